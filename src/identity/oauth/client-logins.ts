/** Logins of MCP clients: what a person allowed a client, until it ends. */

import { isJsonObject } from "../../domain/index.ts";
import type { Instant, Principal, PrincipalId } from "../../domain/index.ts";
import { SECOND_MS } from "../../timing/index.ts";
import type { IdentityPowers } from "../powers.ts";
import { OPERATOR, toAgent, toPersonId } from "../principals.ts";
import type { TokenScope } from "../scopes.ts";

import { readScopes, toClientName } from "./oauth-agent.ts";
import { GRANT } from "./oauth-records.ts";
import type { OauthPayload, OauthRecords } from "./oauth-records.ts";

export interface ClientLogin {
  readonly id: string;
  /** The agent that the client is for the person. */
  readonly principal: PrincipalId;
  readonly person: PrincipalId;
  /** The id of the client. */
  readonly client: string;
  readonly scopes: readonly TokenScope[];
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

export interface ClientLogins {
  /** Those that have not ended, newest first. */
  list(): Promise<readonly ClientLogin[]>;
  /** Also stops what the client runs. Returns `undefined` for an unknown login. */
  end(id: string, by: Principal): Promise<ClientLogin | undefined>;
  /** The same for the grant with this id of the authorization server; its agent ends it unless named. */
  endGrant(grantId: string, by?: PrincipalId): Promise<ClientLogin | undefined>;
}

interface ClientLoginPowers extends Pick<IdentityPowers, "record" | "stop"> {
  readonly records: Pick<OauthRecords, "find" | "list" | "removeGrant">;
}

export function createClientLogins({ records, record, stop }: ClientLoginPowers): ClientLogins {
  const ends = new Map<string, Promise<ClientLogin | undefined>>();
  const endGrant = async (grantId: string, by?: PrincipalId): Promise<ClientLogin | undefined> => {
    const found = await records.find(GRANT, grantId);
    const login = found && toLogin(found);
    if (!login) {
      await records.removeGrant(grantId);
      return undefined;
    }
    const { id, principal: agent, person, client } = login;
    const actor = by ?? agent;
    await record({ actor, action: "consent.ended", subject: agent, detail: { id } });
    await records.removeGrant(grantId);
    // The same client may have logged in elsewhere for the same person: that login keeps what it runs.
    const others = (await records.list(GRANT, nameOf(person))).map(toLogin);
    if (!others.some((other) => other?.client === client)) await stop((principal) => principal === agent, actor);
    return login;
  };
  return {
    list: async () => {
      const logins = (await records.list(GRANT)).flatMap((found) => toLogin(found) ?? []);
      return logins.toSorted((one, other) => other.createdAt - one.createdAt);
    },
    end: async (id, by) => {
      const found = (await records.list(GRANT)).find((one) => toLogin(one)?.id === id);
      const grantId = found?.payload["jti"];
      return typeof grantId === "string" ? endGrant(grantId, by.id) : undefined;
    },
    /** The package ends a token and its grant side by side: one of them does it. */
    async endGrant(grantId, by) {
      const work = ends.get(grantId) ?? endGrant(grantId, by).finally(() => ends.delete(grantId));
      ends.set(grantId, work);
      return work;
    },
  };
}

function nameOf(person: PrincipalId): string {
  return person.replace(/^person:/, "");
}

function toLogin({ payload, shownId }: { readonly payload: OauthPayload; readonly shownId: string }) {
  const { accountId: name, clientId: client, iat, exp, resources } = payload;
  if (typeof name !== "string" || typeof client !== "string") return undefined;
  const allowed = Object.values(isJsonObject(resources) ? resources : {})
    .map(String)
    .join(" ");
  const login: ClientLogin = {
    id: `cl_${shownId}`,
    principal: toAgent(name, toClientName(client)).id,
    person: name === OPERATOR.id ? OPERATOR.id : toPersonId(name),
    client,
    scopes: readScopes(allowed.split(" ")),
    createdAt: Number(iat) * SECOND_MS,
    expiresAt: Number(exp) * SECOND_MS,
  };
  return login;
}
