/** Logging in to an upstream and out again, for a person at a terminal. */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { ConnectorId, Instant, JsonObject, ServerSettings } from "../../domain/index.ts";
import type { Egress } from "../../egress/index.ts";
import { fillTemplates } from "../../vault/index.ts";
import type { Vault } from "../../vault/index.ts";

import { beginLogin } from "./begin-login.ts";
import type { LoginRequest, PendingLogin } from "./begin-login.ts";
import { createLoginFetch } from "./login-fetch.ts";
import type { Login, LoginStore } from "./login-store.ts";
import { revokeLogin } from "./revoke-login.ts";
import type { Revocation } from "./revoke-login.ts";

/** Without an issuer the login could no longer be read, so there was nothing to revoke. */
export type DroppedLogin =
  | { readonly kind: "none" }
  | { readonly kind: "forgotten"; readonly issuer?: string; readonly revocation?: Revocation };

interface LoginsOptions {
  readonly upstreams: ReadonlyMap<ConnectorId, ServerSettings>;
  readonly store: LoginStore;
  readonly egress: Egress;
  readonly vault: Pick<Vault, "lend">;
  /** Resolves when the entry is in the ledger. */
  readonly record: (entry: {
    readonly actor: string;
    readonly action: "upstream.login" | "upstream.logout" | "upstream.revoked";
    readonly subject: ConnectorId;
    readonly detail: JsonObject;
  }) => Promise<unknown>;
  /** Makes running gateways connect to the upstream again. */
  readonly requestRestart: (id: ConnectorId) => Promise<void>;
  readonly now: () => Instant;
}

export type Logins = ReturnType<typeof createLogins>;

/** Everything that is done with the login of one upstream. */
export function createLogins({ upstreams, store, egress, vault, record, requestRestart, now }: LoginsOptions) {
  return {
    /** Discovers and registers. `scopes` are requested in addition to those of an earlier login. */
    async begin(
      id: ConnectorId,
      { scopes, ...request }: Pick<LoginRequest, "scopes" | "redirectUri" | "state">,
    ): Promise<PendingLogin> {
      const server = findServer(upstreams, id);
      if (!server) {
        const hint = "Only upstreams with a url can have a login";
        throw new GloveboxError("REQUEST_INVALID", `${id} is not an HTTP server`, { hint });
      }
      const { url, transport: kind } = server;
      const { clientId, clientMetadataUrl, clientSecret, grants, scopes: configured } = server.oauth;
      // The scopes of an earlier login again, so that adding one scope does not lose the others.
      const earlier = scopes.length === 0 ? undefined : (await store.find(id))?.scope;
      const filled = clientSecret && (await fillTemplates({ clientSecret }, vault, `login of upstream ${id}`));
      const choice = defined({ clientId, clientMetadataUrl, clientSecret: filled?.["clientSecret"] });
      const moreScopes = earlier === undefined ? scopes : [...scopes, earlier];
      return beginLogin({ ...request, id, kind, url, egress, grants, choice, scopes: configured, moreScopes, now });
    },
    /** Recorded in the ledger first. Running gateways use the login within a few seconds. */
    async keep(login: Login, actor: string): Promise<void> {
      const { upstream, issuer, resource } = login;
      await record({ actor, action: "upstream.login", subject: upstream, detail: { issuer, resource } });
      await store.alone(upstream, async () => {
        await store.drop(upstream, actor);
        await store.keep(login, actor);
      });
      await requestRestart(upstream);
    },
    /** Removes the login, then revokes its tokens at the authorization server if that supports it. */
    async drop(id: ConnectorId, actor: string): Promise<DroppedLogin> {
      await record({ actor, action: "upstream.logout", subject: id, detail: {} });
      // Removed here first: a failure at the authorization server must not leave the login in use.
      const { login, wasStored } = await store.alone(id, async () => {
        const found = await store.find(id).catch(() => undefined);
        return { login: found, wasStored: await store.drop(id, actor) };
      });
      await requestRestart(id);
      if (!login) return wasStored ? { kind: "forgotten" } : { kind: "none" };
      // Only addresses that the operator wrote may be unencrypted or in a private network.
      const { url = "", oauth } = findServer(upstreams, id) ?? {};
      const revocation = await revokeLogin(login, createLoginFetch({ egress, url, grants: oauth?.grants ?? [] }));
      const detail = { issuer: login.issuer, outcome: revocation.kind };
      await record({ actor, action: "upstream.revoked", subject: id, detail });
      return { kind: "forgotten", issuer: login.issuer, revocation };
    },
  };
}

function findServer(upstreams: LoginsOptions["upstreams"], id: ConnectorId) {
  const server = upstreams.get(id);
  return server?.transport === "stdio" ? undefined : server;
}
