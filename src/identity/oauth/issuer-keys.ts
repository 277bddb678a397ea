/**
 * The public keys of an external authorization server, fetched through the egress rules. A rotated key is found at its
 * first use; while the server is down, the keys that are known count for an hour.
 */

import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";

import { GloveboxError, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { Egress } from "../../egress/index.ts";
import { MINUTE_MS } from "../../timing/index.ts";

export interface IssuerKeysOptions {
  readonly issuer: string;
  /** By default the one in the metadata of the issuer. */
  readonly jwksUri?: string | undefined;
  readonly egress: Pick<Egress, "fetchFrom">;
  readonly now: () => Instant;
}

interface LoadedKeys {
  readonly find: JWTVerifyGetKey;
  readonly at: Instant;
}

const FRESH_MS = 10 * MINUTE_MS;
const STALE_MS = 60 * MINUTE_MS;
/** Tokens with invented key ids must not make the gateway fetch at every request. */
const COOLDOWN_MS = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;

/** Rejects with UPSTREAM_UNREACHABLE while no keys can be read. */
export function openIssuerKeys(options: IssuerKeysOptions): JWTVerifyGetKey {
  const { issuer, egress, now } = options;
  let loaded: LoadedKeys | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<LoadedKeys> | undefined;

  const fetchObject = async (url: string, isConfigured: boolean): Promise<Record<string, unknown>> => {
    const fetch = egress.fetchFrom(new URL(url).origin, { maxBytes: MAX_BYTES, mayBePrivate: isConfigured });
    const headers = { accept: "application/json" };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const body: unknown = response.ok ? parseJson(await response.text()) : undefined;
    if (!isJsonObject(body)) throw new TypeError(`${url} answered ${response.status} without a JSON object`);
    return body;
  };
  const findKeysUrl = async (): Promise<{ readonly url: string; readonly isConfigured: boolean }> => {
    if (options.jwksUri !== undefined) return { url: options.jwksUri, isConfigured: true };
    const { jwks_uri: url } = await findMetadata(issuer, fetchObject);
    if (typeof url !== "string" || !URL.canParse(url)) throw new TypeError(`The metadata of ${issuer} has no jwks_uri`);
    return { url, isConfigured: new URL(url).origin === new URL(issuer).origin };
  };
  const load = async (): Promise<LoadedKeys> => {
    const { createLocalJWKSet } = await import("jose");
    const { url, isConfigured } = await findKeysUrl();
    return { find: createLocalJWKSet(parseKeySet(await fetchObject(url, isConfigured))), at: now() };
  };
  const reload = (): Promise<LoadedKeys> => {
    if (!loading) {
      triedAt = now();
      loading = load()
        .then((keys) => (loaded = keys))
        .finally(() => (loading = undefined));
    }
    return loading;
  };
  const isCooling = (): boolean => loading === undefined && now() - triedAt < COOLDOWN_MS;
  const current = async (): Promise<LoadedKeys> => {
    if (loaded && now() - loaded.at < FRESH_MS) return loaded;
    const usable = loaded && now() - loaded.at < STALE_MS ? loaded : undefined;
    if (isCooling()) {
      if (usable) return usable;
      throw unreachable(issuer);
    }
    return reload().catch((cause: unknown) => {
      if (usable) return usable;
      throw unreachable(issuer, cause);
    });
  };

  return async (header, token) => {
    const keys = await current();
    try {
      return await keys.find(header, token);
    } catch (thrown) {
      const { errors } = await import("jose");
      if (!(thrown instanceof errors.JWKSNoMatchingKey) || isCooling()) throw thrown;
      const renewed = await reload().catch(() => keys);
      return renewed.find(header, token);
    }
  };
}

/** OpenID Connect first, then RFC 8414. Metadata of another issuer is refused. */
async function findMetadata(
  issuer: string,
  fetchObject: (url: string, isConfigured: boolean) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const read = async (url: string): Promise<Record<string, unknown>> => {
    const metadata = await fetchObject(url, true);
    if (metadata["issuer"] !== issuer) throw new TypeError(`${url} is the metadata of another issuer`);
    return metadata;
  };
  return read(`${origin}${path}/.well-known/openid-configuration`).catch(() =>
    read(`${origin}/.well-known/oauth-authorization-server${path}`),
  );
}

function parseKeySet({ keys }: Record<string, unknown>): JSONWebKeySet {
  if (!Array.isArray(keys) || !keys.every(isJsonObject)) throw new TypeError("The key set has no array of keys");
  return { keys };
}

function unreachable(issuer: string, cause?: unknown): GloveboxError {
  return new GloveboxError("UPSTREAM_UNREACHABLE", `Cannot read the keys of the authorization server ${issuer}`, {
    ...(cause !== undefined && { cause }),
    hint: "Try again later; an operator checks server.oauth.external",
  });
}
