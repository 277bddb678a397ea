/**
 * What a finished login consists of, and its store: the vault, under a name derived from upstream, issuer and resource.
 * Tokens are plain text only inside this folder.
 */

import type { OAuthTokens } from "@modelcontextprotocol/client";
import { z } from "zod";

import { GloveboxError, defined, parseJson, parseSecretName } from "../../domain/index.ts";
import type { ConnectorId, Instant, SecretName } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import { SECOND_MS } from "../../timing/index.ts";
import { Secret } from "../../vault/index.ts";
import type { Vault } from "../../vault/index.ts";

import type { DurableValues } from "../connector.ts";
import type { Lease } from "./hold-lease.ts";

const SECRET = z.codec(z.string(), z.instanceof(Secret), {
  decode: (text) => new Secret(text),
  encode: (secret) => secret.reveal(),
});

/** Discovered at the login and never looked up again. */
const ENDPOINT = z.object({ url: z.string(), authMethods: z.array(z.string()).optional() });

const KEY = z.object({
  issuer: z.string(),
  /** The audience that the token was requested for (RFC 8707). */
  resource: z.string(),
});

const LOGIN = z.object({
  upstream: z.string(),
  ...KEY.shape,
  /** The OAuth client of Glovebox at this issuer, and its authentication method if the registration set one. */
  client: z.object({ id: z.string(), secret: SECRET.optional(), authMethod: z.string().optional() }),
  tokenEndpoint: ENDPOINT,
  /** Where tokens are revoked; absent if the server announced no such endpoint. */
  revocation: ENDPOINT.optional(),
  access: SECRET,
  refresh: SECRET.optional(),
  /** Absent if the server did not set one. */
  expiresAt: z.number().optional(),
  /** The granted scopes, or the requested ones if the server did not list them; separated by spaces. */
  scope: z.string().optional(),
});

/** Identifies a login: a token of one issuer, for one resource, used by one upstream. Not secret. */
interface LoginKey extends Readonly<z.infer<typeof KEY>> {
  readonly upstream: ConnectorId;
}

export interface Login extends Readonly<Omit<z.infer<typeof LOGIN>, "upstream">>, LoginKey {}

export interface LoginStoreOptions {
  readonly values: DurableValues;
  readonly vault: Pick<Vault, "lend" | "set" | "remove">;
  readonly holdLease: Lease;
  /** Called with every token that is read or stored, so that it can be masked wherever it would be shown. */
  readonly onToken: (token: Secret) => void;
}

export type LoginStore = ReturnType<typeof createLoginStore>;

/**
 * Stores one login for each upstream. Several processes share it. The key of an upstream's login is not secret and is
 * stored beside the vault; the login itself is in the vault.
 */
export function createLoginStore({ values, vault, holdLease, onToken }: LoginStoreOptions) {
  const reportTokens = (login: Login | undefined): void => {
    for (const token of [login?.access, login?.refresh, login?.client.secret]) if (token) onToken(token);
  };
  const findKey = async (upstream: ConnectorId): Promise<LoginKey | undefined> => {
    const { data } = KEY.safeParse(parseJson((await values.get(toValueKey(upstream))) ?? ""));
    return data && { upstream, ...data };
  };
  return {
    async find(upstream: ConnectorId): Promise<Login | undefined> {
      const key = await findKey(upstream);
      if (!key) return undefined;
      const text = await lendIfSet(vault, toSecretName(key), `login of upstream ${upstream}`);
      const login = text && parseLoginText(text, key);
      reportTokens(login);
      return login;
    },
    /** Replaces the login of that upstream. */
    async keep(login: Login, actor: string): Promise<void> {
      reportTokens(login);
      const { upstream, issuer, resource } = login;
      await vault.set(toSecretName(login), toLoginText(login), actor);
      await values.set(toValueKey(upstream), JSON.stringify({ issuer, resource }));
    },
    /** Removes the login of an upstream. Returns false if there was none. */
    async drop(upstream: ConnectorId, actor: string): Promise<boolean> {
      const key = await findKey(upstream);
      if (!key) return false;
      await values.erase(toValueKey(upstream));
      return vault.remove(toSecretName(key), actor);
    },
    /** Runs `work` while no other process does so for this upstream. */
    alone: <Value>(upstream: ConnectorId, work: () => Promise<Value>): Promise<Value> =>
      holdLease(toValueKey(upstream), work),
  };
}

/** A login that was removed as a secret, or cannot be opened, counts as missing: the remedy is to log in again. */
async function lendIfSet(vault: Pick<Vault, "lend">, name: SecretName, purpose: string): Promise<Secret | undefined> {
  try {
    return await vault.lend(name, purpose);
  } catch (thrown) {
    if (thrown instanceof GloveboxError && thrown.code === "VAULT_SECRET_MISSING") return undefined;
    throw thrown;
  }
}

function toValueKey(upstream: ConnectorId): string {
  return `login:${upstream}`;
}

/** The vault binds a value to its name, so a login that is moved to another issuer, resource or upstream does not open. */
function toSecretName({ upstream, issuer, resource }: LoginKey): SecretName {
  const digest = digestOf(JSON.stringify([upstream, issuer, resource])).replace("sha256:", "");
  const name = parseSecretName(`oauth_${digest}`);
  if (!name) throw new TypeError("A digest is always a valid secret name");
  return name;
}

/** The string that the vault seals. */
export function toLoginText(login: Login): Secret {
  return new Secret(JSON.stringify(z.encode(LOGIN, login)));
}

/** Returns `undefined` for a text that is not the login of exactly this key. */
export function parseLoginText(text: Secret, key: LoginKey): Login | undefined {
  const { data } = LOGIN.safeParse(parseJson(text.reveal()));
  const isSame = data?.upstream === key.upstream && data.issuer === key.issuer && data.resource === key.resource;
  return isSame ? { ...data, ...key } : undefined;
}

/** From a successful answer of a token endpoint. `before` has the fields that the answer may omit. */
export function withTokens(before: Omit<Login, "access">, tokens: OAuthTokens, now: Instant): Login {
  const { refresh_token: refresh, expires_in: seconds, scope = before.scope } = tokens;
  return {
    ...before,
    access: new Secret(tokens.access_token),
    refresh: refresh === undefined ? before.refresh : new Secret(refresh),
    expiresAt: seconds === undefined ? undefined : now + seconds * SECOND_MS,
    scope,
  };
}

/** The client in the form of the protocol. */
export function toClientInformation({ id, secret, authMethod }: Login["client"]) {
  return { client_id: id, ...defined({ client_secret: secret?.reveal(), token_endpoint_auth_method: authMethod }) };
}
