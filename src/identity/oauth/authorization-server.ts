/** The built-in authorization server: MCP clients log in for a person who agrees on the page. */

import type { NodeHandler, Payload, Provider } from "oidc-provider";

import { GloveboxError, parseJson } from "../../domain/index.ts";
import type { Egress } from "../../egress/index.ts";
import { HOUR_MS, MINUTE_MS } from "../../timing/index.ts";
import type { IdentityPowers } from "../powers.ts";
import { toAgent } from "../principals.ts";
import { AGENT_SCOPES } from "../scopes.ts";

import type { ClientLogins } from "./client-logins.ts";
import { createDocumentFetch, normalizeClient } from "./client-metadata.ts";
import { createConsents } from "./consent.ts";
import type { Consents } from "./consent.ts";
import { PATHS, createProvider, toConsentPath } from "./create-provider.ts";
import { toClientName } from "./oauth-agent.ts";
import type { OauthAgents } from "./oauth-agents.ts";
import type { OauthRecords } from "./oauth-records.ts";
import { findRoute, toAuthorizationQuery, toHeaders } from "./oauth-request.ts";
import type { OauthRequest, PreparedRequest } from "./oauth-request.ts";
import { createWindows } from "./windows.ts";

export interface BuiltInOptions {
  /** Clients that the operator made, by id. */
  readonly clients: Readonly<Record<string, { readonly redirectUris: readonly string[] }>>;
  /** Whether clients may register themselves. */
  readonly registration: boolean;
  /** Whether a client may be the address of a document about it. */
  readonly clientDocuments: boolean;
}

export interface AuthorizationPlace {
  /** The public address, without a slash at the end. */
  readonly url: string;
  readonly pageUrl: () => string;
  readonly runNode: (request: PreparedRequest, handler: NodeHandler) => Promise<Response>;
  /** Called with a fault of the package. */
  readonly report: (thrown: unknown) => unknown;
}

export interface AuthorizationServer extends Pick<Consents, "decide" | "findRequest"> {
  /** RFC 8414; `undefined` while no person exists. */
  describe(): Promise<object | undefined>;
  /** Answers everything under `/oauth` but the page of the consent. */
  handle(request: OauthRequest): Promise<Response>;
}

export interface AuthorizationPowers extends Pick<IdentityPowers, "record" | "now" | "random"> {
  readonly records: OauthRecords;
  readonly clientLogins: Pick<ClientLogins, "endGrant">;
  readonly agents: OauthAgents;
  readonly egress: Pick<Egress, "fetchFrom">;
  readonly hasPeople: () => Promise<boolean>;
  readonly cookieKey: string;
}

/** Registered clients that the store keeps at most. */
const MAX_CLIENTS = 1_000;
const LIMITS = {
  registration: { windowMs: HOUR_MS, each: 20, all: 200 },
  authorization: { windowMs: MINUTE_MS, each: 60, all: 600 },
  token: { windowMs: MINUTE_MS, each: 300, all: 3_000 },
  documents: { windowMs: MINUTE_MS, each: 60, all: 60 },
} as const;

/** Loads the package at the first request that needs it. */
export function createAuthorizationServer(
  options: BuiltInOptions,
  powers: AuthorizationPowers,
  place: AuthorizationPlace,
): AuthorizationServer {
  const { records, now, hasPeople } = powers;
  const { url: issuer, runNode } = place;
  const windows = {
    registration: createWindows(LIMITS.registration, now),
    authorization: createWindows(LIMITS.authorization, now),
    token: createWindows(LIMITS.token, now),
  };
  const load = createLoader(options, powers, place);
  const consents = createConsents({ ...powers, load, isConfigured: (id) => Object.hasOwn(options.clients, id) });
  const run = async (request: Omit<PreparedRequest, "headers">, from: OauthRequest): Promise<Response> => {
    const handler = (await load()).callback();
    return runNode({ ...request, headers: toHeaders(issuer, from, request.body) }, handler);
  };
  const register = async (request: OauthRequest): Promise<Response> => {
    if ((await records.count("Client")) >= MAX_CLIENTS) throw tooMany("registered clients");
    const read = readClient(request.body);
    if ("problem" in read)
      return Response.json({ error: "invalid_client_metadata", error_description: read.problem }, { status: 400 });
    const { origin } = request;
    const detail = { origin, redirects: read.redirects };
    await powers.record({ actor: "unknown", action: "client.registered", subject: origin, detail });
    return run({ method: "POST", target: PATHS.registration, body: JSON.stringify(read.client) }, request);
  };

  return {
    ...consents,
    describe: async () => ((await hasPeople()) ? toMetadata(issuer, options) : undefined),
    async handle(request) {
      const { pathname, searchParams } = new URL(request.url);
      const route = findRoute(request.method, pathname);
      if (!route || (route.kind === "registration" && !options.registration) || !(await hasPeople())) throw notFound();
      if (!windows[route.window](request.origin)) throw tooMany("requests");
      if (route.kind === "registration") return register(request);
      if (route.kind === "finish") {
        const handler = consents.finish(route.uid, searchParams.get("code") ?? "");
        const target = `${toConsentPath(route.uid)}/finish`;
        return runNode({ method: "GET", target, headers: toHeaders(issuer, request, ""), body: "" }, handler);
      }
      const query = route.kind === "start" ? `?${toAuthorizationQuery(searchParams).toString()}` : "";
      return run({ method: request.method, target: `${pathname}${query}`, body: request.body }, request);
    },
  };
}

function createLoader(
  { clients, registration, clientDocuments }: BuiltInOptions,
  { records, agents, record, now, random, egress, cookieKey, clientLogins }: AuthorizationPowers,
  { url: issuer, pageUrl, report }: AuthorizationPlace,
): () => Promise<Provider> {
  const admitDocument = createWindows(LIMITS.documents, now);
  let loading: Promise<Provider> | undefined;
  return () =>
    (loading ??= createProvider({
      issuer,
      pageUrl,
      clients: Object.entries(clients).map(([id, { redirectUris }]) => ({ id, redirectUris })),
      allowsRegistration: registration,
      allowsDocuments: clientDocuments,
      records,
      fetchDocument: createDocumentFetch(egress, () => admitDocument("")),
      mayActFor: (person) => agents.mayActFor(person),
      endGrant: clientLogins.endGrant,
      ...createTrail({ record }, report),
      cookieKey,
      random,
      report,
    }));
}

/** What the package does, in the ledger. */
function createTrail({ record }: Pick<AuthorizationPowers, "record">, report: (thrown: unknown) => unknown) {
  const agentOf = ({ accountId, clientId }: Payload): string =>
    toAgent(String(accountId), toClientName(String(clientId))).id;
  return {
    async onIssued(token: Payload): Promise<void> {
      const agent = agentOf(token);
      const { scope } = token;
      const scopes = typeof scope === "string" ? scope.split(" ") : [];
      const detail = { scopes, expiresAt: Number(token["exp"]) * 1000 };
      await record({ actor: agent, action: "token.issued", subject: agent, detail });
    },
    onReused(token: Payload): void {
      const detail = { kind: "tokenReuse", what: String(token["kind"]) };
      record({ actor: "gateway", action: "anomaly.seen", subject: agentOf(token), detail }).catch(report);
    },
  };
}

/** The package chooses the id, whatever the client says. */
function readClient(body: string) {
  try {
    const client = normalizeClient(parseJson(body));
    return { client, redirects: [client["redirect_uris"]].flat().map(String) };
  } catch (thrown) {
    return { problem: thrown instanceof TypeError ? thrown.message : "The description is not valid" };
  }
}

function toMetadata(issuer: string, { registration, clientDocuments }: BuiltInOptions): object {
  const methods = ["none", "client_secret_basic", "client_secret_post"];
  return {
    issuer,
    authorization_endpoint: `${issuer}${PATHS.authorization}`,
    token_endpoint: `${issuer}${PATHS.token}`,
    revocation_endpoint: `${issuer}${PATHS.revocation}`,
    ...(registration && { registration_endpoint: `${issuer}${PATHS.registration}` }),
    scopes_supported: AGENT_SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: clientDocuments,
  };
}

function notFound(): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", "This address does not exist");
}

function tooMany(what: string): GloveboxError {
  return new GloveboxError("LIMIT_QUOTA", `Too many ${what}`, { hint: "Try again later" });
}
