/** Sets up `oidc-provider` as an OAuth 2.1 authorization server for one resource. Loaded when it is first needed. */

import type { Adapter, Payload, Provider } from "oidc-provider";

import type { FetchLike } from "../../egress/index.ts";
import { createRecent } from "../../timing/index.ts";
import { AGENT_SCOPES } from "../scopes.ts";

import { toRegisteredId } from "./oauth-agent.ts";
import { GRANT } from "./oauth-records.ts";
import type { OauthRecords } from "./oauth-records.ts";

export interface StaticClient {
  readonly id: string;
  readonly redirectUris: readonly string[];
}

export interface ProviderOptions {
  /** The public address, without a slash at the end. */
  readonly issuer: string;
  /** The address of the page, where people decide. */
  readonly pageUrl: () => string;
  readonly clients: readonly StaticClient[];
  readonly allowsRegistration: boolean;
  readonly allowsDocuments: boolean;
  readonly records: OauthRecords;
  readonly fetchDocument: FetchLike;
  /** True if agents may act for the person. */
  readonly mayActFor: (person: string) => Promise<boolean>;
  /** Called before an access token is stored. If it rejects, the token is not stored. */
  readonly onIssued: (token: Payload) => Promise<void>;
  /** Ends the login that has this id. */
  readonly endGrant: (grantId: string) => Promise<unknown>;
  /** Called with a code or refresh token that was presented a second time; everything of its grant is revoked. */
  readonly onReused: (token: Payload) => void;
  /** Signs the cookies of a login that is under way. */
  readonly cookieKey: string;
  readonly random: (count: number) => Uint8Array;
  readonly report: (thrown: unknown) => unknown;
}

const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;
export const ACCESS_TOKEN_S = 60 * MINUTE_S;
export const INTERACTION_S = 10 * MINUTE_S;
/** A login ends for good after this time, whatever was renewed. */
export const GRANT_S = 90 * DAY_S;
const REFRESH_TOKEN_S = 30 * DAY_S;
/** A registered client that no person has allowed is forgotten. */
const UNUSED_CLIENT_S = DAY_S;
const CODE_S = MINUTE_S;
const RANDOM_BITS = 256;
const MAX_SPENT = 100;

export const PATHS = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
} as const;

export function toConsentPath(uid: string): string {
  return `/oauth/consent/${uid}`;
}

export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const { default: Class, errors } = await import("oidc-provider");
  const { generateKeyPair, exportJWK } = await import("jose");
  // Nothing is signed: access tokens are random, and ID tokens are not issued. The package needs a key nevertheless.
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig", kid: "unused" };
  const { issuer, pageUrl } = options;
  const spent = createRecent<unknown, Payload>(MAX_SPENT);
  const provider = new Class(issuer, {
    ...CONSTANT,
    adapter: createAdapters(options, spent, (text) => new errors.InvalidGrant(text)),
    jwks: { keys: [key] },
    cookies: { keys: [options.cookieKey], names: COOKIES },
    clients: options.clients.map(({ id, redirectUris }) => ({ client_id: id, redirect_uris: [...redirectUris] })),
    fetch: options.fetchDocument,
    findAccount: async (_: unknown, person: string) =>
      (await options.mayActFor(person)) ? { accountId: person, claims: () => ({ sub: person }) } : undefined,
    interactions: {
      url: (_: unknown, { uid }: { readonly uid: string }) => `${pageUrl()}${toConsentPath(uid)}`,
    },
    features: toFeatures(options, () => new errors.InvalidTarget()),
  });
  provider.proxy = true;
  provider.on("server_error", (_, error) => options.report(error));
  provider.on("grant.error", ({ oidc: { params = {} } }) => {
    for (const one of ["code", "refresh_token"]) {
      const reused = spent.get(params[one]);
      if (reused) options.onReused(reused);
    }
  });
  return provider;
}

const COOKIES = { session: "glovebox-oauth", interaction: "glovebox-consent", resume: "glovebox-resume" };

/** Routes of the package that lead nowhere here. */
const UNMOUNTED = { jwks: "/oauth/unused/keys", userinfo: "/oauth/unused/userinfo", end_session: "/oauth/unused/end" };

const CONSTANT = {
  routes: { ...PATHS, ...UNMOUNTED },
  scopes: [],
  claims: {},
  responseTypes: ["code"],
  clientDefaults: {
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    id_token_signed_response_alg: "ES256",
  },
  clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
  pkce: { required: () => true },
  expiresWithSession: () => false,
  issueRefreshToken: (_: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
    client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
  /** The surface makes pages. */
  renderError: (context: { body: unknown }, problem: object): void => void (context.body = problem),
  formats: { bitsOfOpaqueRandomness: RANDOM_BITS },
  // Revoking one token of a login ends the login.
  revokeGrantPolicy: () => true,
  ttl: {
    AccessToken: ACCESS_TOKEN_S,
    AuthorizationCode: CODE_S,
    Grant: GRANT_S,
    Interaction: INTERACTION_S,
    RefreshToken: REFRESH_TOKEN_S,
    Session: INTERACTION_S,
  },
};

function toFeatures({ issuer, allowsRegistration, allowsDocuments, random }: ProviderOptions, toError: () => Error) {
  const resource = `${issuer}/mcp`;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    dPoP: { enabled: false },
    revocation: {
      enabled: true,
      allowedPolicy: (_: unknown, client: { readonly clientId: string }, token: { readonly clientId: string }) =>
        token.clientId === client.clientId,
    },
    registration: {
      enabled: allowsRegistration,
      issueRegistrationAccessToken: false,
      idFactory: ({ oidc }: { readonly oidc: { readonly body?: Payload } }) =>
        toRegisteredId(oidc.body?.["client_name"], random),
    },
    clientIdMetadataDocument: { enabled: allowsDocuments, ack: "draft-02" },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_: unknown, wanted: string) => {
        if (wanted !== resource) throw toError();
        return { scope: AGENT_SCOPES.join(" "), audience: resource, accessTokenFormat: "opaque" };
      },
    },
  };
}

const ONCE: readonly string[] = ["AuthorizationCode", "RefreshToken"];
const TOKENS: readonly string[] = ["AccessToken", ...ONCE];

/** One adapter for each kind of record. Sessions of the package are not kept: people have sessions of the page. */
function createAdapters(
  { records, onIssued, endGrant }: ProviderOptions,
  /** Codes and refresh tokens that were presented after their use. */
  spent: { set(id: string, payload: Payload): void },
  toError: (text: string) => Error,
): (model: string) => Adapter {
  const revoke = async (grantId: unknown): Promise<void> => {
    if (typeof grantId === "string") await endGrant(grantId);
  };
  return (model) => ({
    async upsert(id, payload, expiresIn) {
      if (model === "Session") return;
      if (model === "AccessToken") await onIssued(payload);
      await records.put(model, id, payload, model === "Client" ? UNUSED_CLIENT_S : expiresIn);
    },
    async find(id) {
      const found = model === "Session" ? undefined : await records.find(model, id);
      if (!found) return undefined;
      const { payload, consumedAt } = found;
      if (consumedAt === undefined) return payload;
      if (ONCE.includes(model)) spent.set(id, payload);
      return { ...payload, consumed: Math.floor(consumedAt / 1000) };
    },
    findByUid: async (uid) => (await records.findByUid(model, uid))?.payload,
    findByUserCode: async () => undefined,
    /** Of two requests at once, in whatever process, one succeeds; the other is a replay. */
    async consume(id) {
      if (await records.consume(model, id)) return;
      const found = await records.find(model, id);
      if (found) spent.set(id, found.payload);
      await revoke(found?.payload["grantId"]);
      throw toError(`${model} already used`);
    },
    /** A token is destroyed only because its login ends: all of it at once, so that a crash leaves no other part of it. */
    async destroy(id) {
      if (model === GRANT) return revoke(id);
      const token = TOKENS.includes(model) ? await records.find(model, id) : undefined;
      if (token) await revoke(token.payload["grantId"]);
      await records.remove(model, id);
    },
    // Called for each kind of token, and then the grant is destroyed.
    revokeByGrantId: (grantId) => records.removeGrant(grantId, "tokens"),
  });
}
