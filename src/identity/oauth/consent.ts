/**
 * The decision of a person about a client. It comes back with a code that works once, to the browser that started the
 * login: the one in which the person decided must be the same.
 */

import type { Interaction, NodeHandler, Payload, Provider } from "oidc-provider";

import { GloveboxError } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { IdentityPowers } from "../powers.ts";
import { OPERATOR, nameOfPerson, toAgent } from "../principals.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import type { TokenScope } from "../scopes.ts";

import { GRANT_S, INTERACTION_S, toConsentPath } from "./create-provider.ts";
import { readScopes, toClientName } from "./oauth-agent.ts";
import type { OauthAgents } from "./oauth-agents.ts";
import type { OauthRecords } from "./oauth-records.ts";
import { UID } from "./oauth-request.ts";

/** What a person is asked. */
export interface ConsentRequest {
  readonly client: string;
  /** As the client calls itself. */
  readonly name?: string;
  /** `document`: the host of the id vouches for it. `registered`: its name was not checked. */
  readonly source: "configured" | "document" | "registered";
  readonly redirect: string;
  readonly resource: string;
  readonly scopes: readonly TokenScope[];
}

export interface ConsentDecision {
  readonly person: Principal;
  /** Those that the person allows; none: the person denied. */
  readonly scopes: readonly string[];
  readonly origin: string;
}

export interface ConsentPowers extends Pick<IdentityPowers, "record" | "random"> {
  readonly records: OauthRecords;
  readonly agents: OauthAgents;
  readonly load: () => Promise<Provider>;
  /** True for a client that the operator made. */
  readonly isConfigured: (clientId: string) => boolean;
}

export interface Consents {
  /** Returns `undefined` for a request that is unknown, decided or older than ten minutes. */
  findRequest(uid: string): Promise<ConsentRequest | undefined>;
  /** Records the decision and returns the address to which the browser goes. */
  decide(uid: string, decision: ConsentDecision): Promise<string>;
  /** Applies a decision. Rejects in another browser than the one that started the login: the package reads its cookie. */
  finish(uid: string, code: string): NodeHandler;
}

const SECRET_BYTES = 32;
const DECISION = "Decision";
const DECISION_S = 60;

export function createConsents({ records, agents, record, random, load, isConfigured }: ConsentPowers): Consents {
  const find = async (uid: string) => {
    if (!UID.test(uid) || !(await records.find("Interaction", uid))) return undefined;
    const provider = await load();
    const interaction = await provider.Interaction.find(uid);
    const request = interaction && (await describeRequest(interaction, provider, isConfigured));
    return interaction && request && { interaction, request };
  };
  return {
    findRequest: async (uid) => (await find(uid))?.request,
    async decide(uid, { person, scopes: wanted, origin }) {
      const found = await find(uid);
      if (!found) throw unknownRequest();
      const name = person.id === OPERATOR.id ? OPERATOR.id : nameOfPerson(person.id);
      if (name === undefined || !(await agents.mayActFor(name))) throw noAgents(person);
      const { client, redirect, resource, scopes: asked } = found.request;
      const scopes = asked.filter((scope) => wanted.includes(scope));
      const subject = toAgent(name, toClientName(client)).id;
      const action = scopes.length > 0 ? "consent.given" : "consent.denied";
      await record({ actor: person.id, action, subject, detail: { client, redirect, resource, scopes, origin } });
      const code = Buffer.from(random(SECRET_BYTES)).toString("base64url");
      await records.put(DECISION, code, { uid, accountId: name, scopes }, DECISION_S);
      return `${new URL(found.interaction.returnTo).origin}${toConsentPath(uid)}/finish?code=${code}`;
    },
    finish: (uid, code) => async (incoming, outgoing) => {
      const provider = await load();
      const interaction = await provider.interactionDetails(incoming, outgoing).catch(ignoreMissing);
      const found = interaction?.uid === uid ? await records.find(DECISION, code) : undefined;
      const decision = found && parseDecision(found.payload);
      if (!interaction || decision?.uid !== uid || !(await records.consume(DECISION, code))) throw unknownRequest();
      const result = await toResult(provider, interaction, decision);
      await provider.interactionFinished(incoming, outgoing, result, { mergeWithLastSubmission: false });
    },
  };

  async function toResult(
    provider: Provider,
    { params }: Interaction,
    { person, scopes }: StoredDecision,
  ): Promise<object> {
    const [clientId, resource] = [String(params["client_id"]), String(params["resource"])];
    if (scopes.length === 0)
      return { error: "access_denied", error_description: "The person did not let the client in" };
    const grant = new provider.Grant({ accountId: person, clientId });
    grant.addResourceScope(resource, scopes.join(" "));
    const refused = readScopes(String(params["scope"]).split(" ")).filter((scope) => !scopes.includes(scope));
    if (refused.length > 0) grant.rejectResourceScope(resource, refused.join(" "));
    const registered = await records.find("Client", clientId);
    if (registered) await records.put("Client", clientId, registered.payload, GRANT_S);
    return { login: { accountId: person, remember: false }, consent: { grantId: await grant.save() } };
  }
}

interface StoredDecision {
  readonly uid: string;
  readonly person: string;
  readonly scopes: readonly TokenScope[];
}

function parseDecision({ uid, accountId, scopes }: Payload): StoredDecision | undefined {
  if (typeof uid !== "string" || typeof accountId !== "string" || !Array.isArray(scopes)) return undefined;
  return { uid, person: accountId, scopes: AGENT_SCOPES.filter((scope) => scopes.includes(scope)) };
}

async function describeRequest(
  { params }: Interaction,
  provider: Provider,
  isConfigured: ConsentPowers["isConfigured"],
): Promise<ConsentRequest | undefined> {
  const { client_id: id, redirect_uri: redirect, resource, scope } = params;
  if (typeof id !== "string" || typeof redirect !== "string" || typeof resource !== "string") return undefined;
  const client = await provider.Client.find(id);
  if (!client) return undefined;
  const { clientName: name, clientIdMetadataDocument: hasDocument = false } = client;
  return {
    client: id,
    source: isConfigured(id) ? "configured" : hasDocument ? "document" : "registered",
    ...(name !== undefined && { name }),
    redirect,
    resource,
    scopes: readScopes(String(scope).split(" ")),
  };
}

/** Without the cookie, or with that of a login that ended. */
function ignoreMissing(thrown: unknown): undefined {
  if (thrown instanceof Error && "statusCode" in thrown && thrown.statusCode === 400) return undefined;
  throw thrown;
}

function unknownRequest(): GloveboxError {
  const minutes = INTERACTION_S / 60;
  const message = `The login is unknown, decided, of another browser, or older than ${minutes} minutes`;
  return new GloveboxError("REQUEST_NOT_FOUND", message, { hint: "Start it again in the client" });
}

function noAgents({ id }: Principal): GloveboxError {
  return new GloveboxError("REQUEST_FORBIDDEN", `No agent may act for ${id}`, {
    hint: "An operator adds the role: glovebox people roles NAME --role agent",
  });
}
