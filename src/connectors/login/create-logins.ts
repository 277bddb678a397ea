/** Logging in to an upstream and out again, for a person at a terminal. */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { ConnectorId, Instant, JsonObject, ServerSettings } from "../../domain/index.ts";
import type { Egress } from "../../egress/index.ts";
import { fillTemplates } from "../../vault/index.ts";
import type { Vault } from "../../vault/index.ts";

import { beginLogin } from "./begin-login.ts";
import type { PendingLogin } from "./begin-login.ts";
import { createLoginFetch } from "./login-fetch.ts";
import type { LoginReach } from "./login-fetch.ts";
import type { Login, LoginStore } from "./login.ts";
import { revokeLogin } from "./revoke-login.ts";
import type { Revocation } from "./revoke-login.ts";

/** Everything that is done with the login of one upstream. */
export interface Logins {
  /** Discovers and registers. `scopes` are requested in addition to those of an earlier login. */
  begin(id: ConnectorId, request: BeginLoginRequest): Promise<PendingLogin>;
  /** Recorded in the ledger first. Running gateways use the login within a few seconds. */
  keep(login: Login, actor: string): Promise<void>;
  /** Removes the login, then revokes its tokens at the authorization server if that supports it. */
  drop(id: ConnectorId, actor: string): Promise<DroppedLogin>;
}

export interface BeginLoginRequest {
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly state: string;
}

/** Without an issuer the login could no longer be read, so there was nothing to revoke. */
export type DroppedLogin =
  | { readonly kind: "none" }
  | { readonly kind: "forgotten"; readonly issuer?: string; readonly revocation?: Revocation };

export interface LoginsOptions {
  readonly upstreams: ReadonlyMap<ConnectorId, ServerSettings>;
  readonly store: LoginStore;
  readonly egress: Egress;
  readonly vault: Pick<Vault, "lend">;
  /** Resolves when the entry is in the ledger. */
  readonly record: (entry: LoginEntry) => Promise<unknown>;
  /** Makes running gateways connect to the upstream again. */
  readonly requestRestart: (id: ConnectorId) => Promise<void>;
  readonly now: () => Instant;
}

interface LoginEntry {
  readonly actor: string;
  readonly action: "upstream.login" | "upstream.logout" | "upstream.revoked";
  readonly subject: ConnectorId;
  readonly detail: JsonObject;
}

export function createLogins(options: LoginsOptions): Logins {
  const { upstreams, store, egress, record, requestRestart } = options;
  return {
    begin: (id, request) => begin(options, id, request),
    async keep(login, actor) {
      const { upstream, issuer, resource } = login;
      await record({ actor, action: "upstream.login", subject: upstream, detail: { issuer, resource } });
      await store.alone(upstream, async () => {
        await store.drop(upstream, actor);
        await store.keep(login, actor);
      });
      await requestRestart(upstream);
    },
    async drop(id, actor) {
      await record({ actor, action: "upstream.logout", subject: id, detail: {} });
      // Removed here first: a failure at the authorization server must not leave the login in use.
      const { login, wasStored } = await store.alone(id, async () => {
        const found = await store.find(id).catch(() => undefined);
        return { login: found, wasStored: await store.drop(id, actor) };
      });
      await requestRestart(id);
      if (!login) return wasStored ? { kind: "forgotten" } : { kind: "none" };
      const revocation = await revokeLogin(login, createLoginFetch({ egress, ...findReach(upstreams, id) }));
      const detail = { issuer: login.issuer, outcome: revocation.kind };
      await record({ actor, action: "upstream.revoked", subject: id, detail });
      return { kind: "forgotten", issuer: login.issuer, revocation };
    },
  };
}

/** Only addresses that the operator wrote may be unencrypted or in a private network. */
function findReach(upstreams: LoginsOptions["upstreams"], id: ConnectorId): Omit<LoginReach, "egress"> {
  const upstream = upstreams.get(id);
  if (upstream === undefined || upstream.transport === "stdio") return { url: "", grants: [] };
  return { url: upstream.url, grants: upstream.oauth.grants };
}

/** Requests the scopes of an earlier login again, so that adding one scope does not lose the others. */
async function begin(options: LoginsOptions, id: ConnectorId, request: BeginLoginRequest): Promise<PendingLogin> {
  const upstream = options.upstreams.get(id);
  if (upstream === undefined || upstream.transport === "stdio") {
    throw new GloveboxError("REQUEST_INVALID", `${id} is not an HTTP server`, {
      hint: "Only upstreams with a url can have a login",
    });
  }
  const { store, vault, egress, now } = options;
  const { scopes, ...rest } = request;
  const { oauth, url, transport: kind } = upstream;
  const earlier = scopes.length === 0 ? undefined : (await store.find(id))?.scope;
  const { clientId, clientMetadataUrl, clientSecret, grants } = oauth;
  const filled = clientSecret && (await fillTemplates({ clientSecret }, vault, `login of upstream ${id}`));
  const choice = defined({ clientId, clientMetadataUrl, clientSecret: filled?.["clientSecret"] });
  const moreScopes = earlier === undefined ? scopes : [...scopes, earlier];
  return beginLogin({ ...rest, id, kind, url, egress, grants, choice, scopes: oauth.scopes, moreScopes, now });
}
