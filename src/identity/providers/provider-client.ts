/**
 * One OpenID Connect provider, asked through the egress rules: authorization code with PKCE, `state`, `nonce` and `iss`.
 * Nothing of its tokens is kept.
 */

import type * as Client from "openid-client";
import type { Configuration, CustomFetch } from "openid-client";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant, SecretTemplate } from "../../domain/index.ts";
import type { Egress } from "../../egress/index.ts";
import { MINUTE_MS } from "../../timing/index.ts";
import { fillTemplates } from "../../vault/index.ts";
import type { Vault } from "../../vault/index.ts";

import { UnreachableError } from "./provider-faults.ts";
import { parseMetadata } from "./provider-metadata.ts";
import type { ProviderMetadata } from "./provider-metadata.ts";
import { isIncomplete, readClaims } from "./read-claims.ts";
import type { ClaimSettings, ReadClaims } from "./read-claims.ts";

export interface ProviderSettings extends ClaimSettings {
  /** Exactly as its tokens name it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: SecretTemplate;
  readonly title?: string | undefined;
  /** In addition to `openid`. */
  readonly scopes: readonly string[];
}

export interface ProviderPowers {
  readonly egress: Pick<Egress, "fetchFrom">;
  readonly vault: Pick<Vault, "lend">;
  readonly now: () => Instant;
}

/** What only this login knows. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
}

export interface ProviderClient {
  /** The address at the provider. With `isStepUp` the person must prove again who they are. */
  toAddress(login: LoginSecrets & { readonly redirectUri: string; readonly isStepUp: boolean }): Promise<URL>;
  /** Redeems the code in the address to which the provider led back. Rejects for anything that does not fit. */
  redeem(answer: URL, login: LoginSecrets): Promise<ReadClaims>;
}

const FRESH_MS = 10 * MINUTE_MS;
const COOLDOWN_MS = 2_000;
const TIMEOUT_SECONDS = 5;
const MAX_BYTES = 256 * 1024;
const CLOCK_TOLERANCE_SECONDS = 30;
/** Asks the provider to say when the person logged in there. */
const MAX_AGE_SECONDS = 12 * 60 * 60;

/** Loads the package at the first login. */
export function createProviderClient(settings: ProviderSettings, powers: ProviderPowers): ProviderClient {
  const { issuer, clientId, scopes } = settings;
  const { now } = powers;
  const load = () => import("openid-client");
  const fetch = createProviderFetch(issuer, powers.egress);
  const findMetadata = createMetadataCache(issuer, fetch, now);

  /** A new one for each use: its keys are read when they are needed, so that a rotated one is found. */
  const configure = async (metadata: ProviderMetadata, secret?: string): Promise<Configuration> => {
    const client = await load();
    const skew = Math.round((now() - Date.now()) / 1000);
    const clock = { [client.clockSkew]: skew, [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    const config = new client.Configuration(metadata, clientId, clock, choose(client, metadata, secret));
    config[client.customFetch] = fetch;
    config.timeout = TIMEOUT_SECONDS;
    client.allowInsecureRequests(config); // `fetch` allows http for the issuer itself only
    client.enableNonRepudiationChecks(config);
    return config;
  };
  const resolveSecret = async (): Promise<string | undefined> => {
    const { clientSecret } = settings;
    if (!clientSecret) return undefined;
    const filled = await fillTemplates({ clientSecret }, powers.vault, `login at ${issuer}`);
    return filled["clientSecret"]?.reveal();
  };

  return {
    async toAddress({ redirectUri, state, nonce, verifier, isStepUp }) {
      const client = await load();
      const config = await configure(await findMetadata());
      return client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        response_type: "code",
        scope: ["openid", ...scopes].join(" "),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        max_age: String(isStepUp ? 0 : MAX_AGE_SECONDS),
        ...(isStepUp && { prompt: "login" }),
      });
    },
    async redeem(answer, { state, nonce, verifier }) {
      const client = await load();
      const metadata = await findMetadata();
      const config = await configure(metadata, await resolveSecret());
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await client.authorizationCodeGrant(config, answer, checks);
      const claims = tokens.claims();
      const needsMore = claims && metadata.userinfo_endpoint !== undefined && isIncomplete(claims, settings);
      const more = needsMore ? await client.fetchUserInfo(config, tokens.access_token, claims.sub) : {};
      const read = readClaims({ ...more, ...claims }, settings, now());
      if (!read) throw new TypeError("no usable sub");
      return read;
    },
  };
}

/** The first method is what a provider supports that names none. */
function choose(
  client: typeof Client,
  { token_endpoint_auth_methods_supported: known }: ProviderMetadata,
  secret?: string,
) {
  if (secret === undefined) return client.None();
  const isBasic = known === undefined || known.includes("client_secret_basic");
  return isBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}

/** The operator configured the issuer, which may be in a private network. Other hosts are named by a document of it. */
function createProviderFetch(issuer: string, egress: Pick<Egress, "fetchFrom">): CustomFetch {
  const { origin } = new URL(issuer);
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    const isConfigured = url.origin === origin;
    if (!isConfigured && url.protocol !== "https:") throw new UnreachableError(`${url.origin} does not use https`);
    try {
      const send = egress.fetchFrom(url.origin, { maxBytes: MAX_BYTES, mayBePrivate: isConfigured });
      const response = await send(url, { method, headers, body: body ?? null, signal: signal ?? null });
      if (response.status < 500) return response;
      throw new UnreachableError(`${url.origin} answered ${response.status}`);
    } catch (cause) {
      if (cause instanceof UnreachableError) throw cause;
      throw new UnreachableError(`${url.origin} ${codeOf(cause)}`, { cause });
    }
  };
}

/** Of a network error, such as `CERT_HAS_EXPIRED`. */
function codeOf(thrown: unknown): string {
  if (thrown instanceof GloveboxError) return thrown.code;
  if (!(thrown instanceof Error)) return "failed";
  return "code" in thrown && typeof thrown.code === "string" ? thrown.code : thrown.name;
}

/** Rejects while the provider is down, unless its metadata was read minutes ago. It is not asked again at once. */
function createMetadataCache(issuer: string, fetch: CustomFetch, now: () => Instant): () => Promise<ProviderMetadata> {
  let loaded: { readonly metadata: ProviderMetadata; readonly at: Instant } | undefined;
  let failed: { readonly thrown: unknown; readonly at: Instant } | undefined;
  let loading: Promise<ProviderMetadata> | undefined;
  const load = async (): Promise<ProviderMetadata> => {
    const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const response = await fetch(url, {
      method: "GET",
      headers: { accept: "application/json" },
      body: undefined,
      redirect: "manual",
      signal,
    });
    const metadata = parseMetadata(response.ok ? await response.text() : "", issuer);
    loaded = { metadata, at: now() };
    return metadata;
  };
  const reload = async (): Promise<ProviderMetadata> => {
    try {
      return await load();
    } catch (thrown) {
      failed = { thrown, at: now() };
      throw thrown;
    }
  };
  return async () => {
    if (loaded && now() - loaded.at < FRESH_MS) return loaded.metadata;
    if (failed && now() - failed.at < COOLDOWN_MS) throw failed.thrown;
    return (loading ??= reload().finally(() => (loading = undefined)));
  };
}
