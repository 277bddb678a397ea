/** Keeps logins in the vault, each under a name made of issuer, resource and upstream, and does the login itself. */

import { createHash, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import type { Settings } from "./config/index.ts";
import {
  beginLogin,
  createLoginFetch,
  createTokenSource,
  parseLoginText,
  revokeLogin,
  toLoginText,
} from "./connectors/index.ts";
import type { BegunLogin, Login, LoginKeeper, LoginKey, LoginReach, TokenSource } from "./connectors/index.ts";
import { GloveboxError, isJsonObject, parseSecretName } from "./domain/index.ts";
import type { ConnectorId, SecretName, ServerSettings } from "./domain/index.ts";
import type { Egress } from "./egress/index.ts";
import type { Store } from "./store/index.ts";
import type { LoginCommandPowers } from "./surfaces/index.ts";
import { fillTemplates } from "./vault/index.ts";
import type { Secret, Vault } from "./vault/index.ts";
import { openEgressOf } from "./create-network.ts";
import { askRestart, createVault, openRecords } from "./open-records.ts";

/** Longer than one request to a token endpoint may take. */
const LEASE_MS = 30_000;
const LOOK_MS = 50;

export interface KeeperParts {
  readonly store: Pick<Store, "meta" | "quotas">;
  readonly vault: Pick<Vault, "lend" | "set">;
  /** Hears every token that is read or made, so that it can be hidden wherever it would be shown. */
  readonly onToken: (token: Secret) => void;
}

/** Which login an upstream has is no secret and stands beside the vault; the rest is in it. */
export function createLoginKeeper({ store, vault, onToken }: KeeperParts): LoginKeeper {
  const hear = (login: Login | undefined): void => {
    for (const token of [login?.access, login?.refresh, login?.client.secret]) if (token) onToken(token);
  };
  return {
    async find(upstream) {
      const key = parseKey(upstream, await store.meta.get(toMetaKey(upstream)));
      if (!key) return undefined;
      const text = await lendIfThere(vault, toSecretName(key), `login of upstream ${upstream}`);
      const login = text && parseLoginText(text, key);
      hear(login);
      return login;
    },
    async keep(login, actor) {
      hear(login);
      const { upstream, issuer, resource } = login;
      await vault.set(toSecretName(login), toLoginText(login), actor);
      await store.meta.set(toMetaKey(upstream), JSON.stringify({ issuer, resource }));
    },
    alone: (upstream, work) => holdLease(store, `login:${upstream}`, work),
  };
}

/** A login that was removed as a secret, or does not open, is none: logging in again is the remedy. */
async function lendIfThere(vault: Pick<Vault, "lend">, name: SecretName, purpose: string): Promise<Secret | undefined> {
  try {
    return await vault.lend(name, purpose);
  } catch (thrown) {
    if (thrown instanceof GloveboxError && thrown.code === "VAULT_SECRET_MISSING") return undefined;
    throw thrown;
  }
}

/** Removes the login of an upstream. False when there was none. */
async function dropLogin(
  { store, vault }: { readonly store: Store; readonly vault: Vault },
  upstream: ConnectorId,
  actor: string,
): Promise<boolean> {
  const key = parseKey(upstream, await store.meta.get(toMetaKey(upstream)));
  if (!key) return false;
  await store.meta.erase(toMetaKey(upstream));
  return vault.remove(toSecretName(key), actor);
}

/** One holder at a time in all processes; a holder that was killed keeps it until its time is over. */
async function holdLease<Value>(
  { quotas }: Pick<Store, "quotas">,
  key: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const holder = randomBytes(12).toString("hex");
  const giveUpAt = Date.now() + 2 * LEASE_MS;
  for (;;) {
    const now = Date.now();
    const taken = await quotas.take([{ kind: "place", key, limit: 1, holder, until: now + LEASE_MS }], now);
    if (taken.kind === "taken") break;
    if (now > giveUpAt) throw new GloveboxError("LIMIT_BUSY", "Another process is renewing this login");
    await wait(LOOK_MS);
  }
  try {
    return await work();
  } finally {
    await quotas.giveBack(holder, 0);
  }
}

function toMetaKey(upstream: ConnectorId): string {
  return `login:${upstream}`;
}

/** The vault binds a value to its name, so a login that is moved to another issuer, resource or upstream does not open. */
function toSecretName({ upstream, issuer, resource }: LoginKey): SecretName {
  const digest = createHash("sha256")
    .update(JSON.stringify([upstream, issuer, resource]))
    .digest("hex");
  const name = parseSecretName(`oauth_${digest}`);
  if (!name) throw new TypeError("A digest makes a name");
  return name;
}

function parseKey(upstream: ConnectorId, text: string | undefined): LoginKey | undefined {
  if (text === undefined) return undefined;
  const raw: unknown = JSON.parse(text);
  if (!isJsonObject(raw)) return undefined;
  const { issuer, resource } = raw;
  return typeof issuer === "string" && typeof resource === "string" ? { upstream, issuer, resource } : undefined;
}

type HttpUpstream = Extract<ServerSettings, { readonly transport: "http" | "sse" }>;

/** The tokens that requests to one upstream carry. */
export function createTokens(
  id: ConnectorId,
  { url, oauth }: HttpUpstream,
  parts: KeeperParts & { readonly egress: Egress },
): TokenSource {
  const fetch = createLoginFetch({ egress: parts.egress, url, grants: oauth.grants });
  return createTokenSource({ id, url, keeper: createLoginKeeper(parts), fetch, now: Date.now });
}

/** What the command line needs for `servers login` and `servers logout`. Closing it closes everything behind it. */
export async function openLoginsAlone(settings: Settings): Promise<LoginCommandPowers & AsyncDisposable> {
  const { store, ledger, close } = await openRecords(settings);
  const vault = createVault(settings, store, ledger);
  const egress = openEgressOf(settings, vault);
  const keeper = createLoginKeeper({ store, vault, onToken: () => undefined });
  return {
    begin: (id, request) => begin(settings, id, { ...request, egress, keeper, vault }),
    keep: async (login, actor) => {
      const { upstream, issuer, resource } = login;
      await ledger.write({ actor, action: "upstream.login", subject: upstream, detail: { issuer, resource } });
      await keeper.alone(upstream, async () => {
        await dropLogin({ store, vault }, upstream, actor);
        await keeper.keep(login, actor);
      });
      await askRestart(store, upstream);
    },
    drop: async (id, actor) => {
      await ledger.write({ actor, action: "upstream.logout", subject: id, detail: {} });
      // Forgotten first: what the authorization server does must not keep anybody logged in here.
      const { login, wasThere } = await keeper.alone(id, async () => {
        const found = await keeper.find(id).catch(() => undefined);
        return { login: found, wasThere: await dropLogin({ store, vault }, id, actor) };
      });
      await askRestart(store, id);
      if (!login) return wasThere ? { kind: "forgotten" } : { kind: "none" };
      const revocation = await revokeLogin(login, createLoginFetch({ egress, ...findReach(settings, id) }));
      const detail = { issuer: login.issuer, outcome: revocation.kind };
      await ledger.write({ actor, action: "upstream.revoked", subject: id, detail });
      return { kind: "forgotten", issuer: login.issuer, revocation };
    },
    async [Symbol.asyncDispose]() {
      await egress[Symbol.asyncDispose]();
      await vault.close();
      await close();
    },
  };
}

/** What the operator wrote may be reached without encryption and in a private network, and nothing else. */
function findReach({ upstreams }: Settings, id: ConnectorId): Omit<LoginReach, "egress"> {
  const upstream = upstreams.get(id);
  if (upstream === undefined || upstream.transport === "stdio") return { url: "", grants: [] };
  return { url: upstream.url, grants: upstream.oauth.grants };
}

interface Beginning {
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly state: string;
  readonly egress: Egress;
  readonly keeper: LoginKeeper;
  readonly vault: Vault;
}

/** An earlier login's scopes are asked for again, so that a further scope does not cost the others. */
async function begin(settings: Settings, id: ConnectorId, beginning: Beginning): Promise<BegunLogin> {
  const upstream = settings.upstreams.get(id);
  if (upstream === undefined || upstream.transport === "stdio") {
    throw new GloveboxError("REQUEST_INVALID", `${id} is no server that is reached over HTTP`, {
      hint: "Only upstreams with a url can have a login",
    });
  }
  const { scopes, keeper, vault, ...rest } = beginning;
  const { oauth, url, transport: kind } = upstream;
  const earlier = scopes.length === 0 ? undefined : (await keeper.find(id))?.scope;
  const { clientId, clientMetadataUrl, clientSecret, grants } = oauth;
  const filled = clientSecret && (await fillTemplates({ clientSecret }, vault, `login of upstream ${id}`));
  const secret = filled?.["clientSecret"];
  const choice = {
    ...(clientId !== undefined && { clientId }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(secret && { clientSecret: secret }),
  };
  const moreScopes = earlier === undefined ? scopes : [...scopes, earlier];
  return beginLogin({ ...rest, id, kind, url, grants, choice, scopes: oauth.scopes, moreScopes, now: Date.now });
}
