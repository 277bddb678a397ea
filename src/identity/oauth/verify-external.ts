/** Access tokens of an external authorization server: JWTs for this gateway, of one issuer, with one algorithm. */

import { createHash } from "node:crypto";

import type { JWTPayload } from "jose";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { MINUTE_MS, SECOND_MS, createRecent } from "../../timing/index.ts";
import { OPERATOR } from "../principals.ts";
import type { CredentialRefusal } from "../record-refusals.ts";
import type { VerifiedToken } from "../tokens.ts";

import { openIssuerKeys } from "./issuer-keys.ts";
import type { IssuerKeysOptions } from "./issuer-keys.ts";
import { readScopes, toClientName } from "./oauth-agent.ts";
import type { OauthAgents } from "./oauth-agents.ts";

export interface ExternalIssuer {
  readonly issuer: string;
  /** By default the address of `/mcp`. */
  readonly audience?: string | undefined;
  readonly algorithm: string;
  readonly jwksUri?: string | undefined;
  /** The claim with the name of the person. */
  readonly personClaim: string;
  readonly clockToleranceSeconds: number;
}

export interface ExternalPowers extends Pick<IssuerKeysOptions, "egress" | "now"> {
  readonly agents: OauthAgents;
  readonly refuse: (refusal: CredentialRefusal) => void;
}

export interface PresentedToken {
  readonly text: string;
  /** The address of the client. */
  readonly origin: string;
  /** The address of `/mcp`. */
  readonly resource: string;
}

/** `JWT` is what most servers write; ID tokens have another audience. */
const TYPES: readonly unknown[] = [undefined, "jwt", "at+jwt", "application/at+jwt"];
/** No longer than keys that were withdrawn count without it. */
const REMEMBERED_MS = MINUTE_MS;
const MAX_REMEMBERED = 1_000;
/** RFC 9068, and what Keycloak, Entra and Okta write. */
const CLIENT_CLAIMS = ["client_id", "azp", "appid", "cid"] as const;

/**
 * Returns `undefined` for a token that is not valid. Rejects with REQUEST_FORBIDDEN for a person without a place here, and
 * with UPSTREAM_UNREACHABLE if the keys cannot be read.
 */
export function createExternalVerifier(
  { issuer, audience, algorithm, jwksUri, personClaim, clockToleranceSeconds }: ExternalIssuer,
  { egress, now, agents, refuse }: ExternalPowers,
): (token: PresentedToken) => Promise<VerifiedToken | undefined> {
  const findKey = openIssuerKeys({ issuer, jwksUri, egress, now });
  const remember = createMemory(now, clockToleranceSeconds);
  const read = async (text: string, resource: string): Promise<JWTPayload> => {
    const { jwtVerify } = await import("jose");
    const { payload, protectedHeader } = await jwtVerify(text, findKey, {
      issuer,
      audience: audience ?? resource,
      algorithms: [algorithm],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now()),
      requiredClaims: ["exp", personClaim],
    });
    if (!TYPES.includes(protectedHeader.typ?.toLowerCase())) throw new TypeError("not an access token");
    // A token that is bound to a key of its client proves nothing without that key.
    if (payload["cnf"] !== undefined) throw new TypeError("bound to a key");
    return payload;
  };
  return async ({ text, origin, resource }) => {
    const refused = (reason: string): undefined => {
      refuse({ what: "token", reason, origin });
      return undefined;
    };
    let payload: JWTPayload;
    try {
      payload = await remember(`${resource} ${text}`, () => read(text, resource));
    } catch (thrown) {
      if (thrown instanceof GloveboxError) throw thrown;
      return refused(describeProblem(thrown));
    }
    const person = payload[personClaim];
    const clientId = CLIENT_CLAIMS.map((claim) => payload[claim]).find((value) => typeof value === "string");
    if (typeof person !== "string" || typeof clientId !== "string") return refused("no person or no client");
    if (person === OPERATOR.id) return refused("the operator has no account elsewhere");
    const scopes = readScopes(toTexts(payload["scope"] ?? payload["scp"]));
    const principal = await agents.admit({ person, client: toClientName(clientId), scopes });
    return { id: payload.jti ?? "", principal, scopes };
  };
}

/** A signature costs more than the rest of a request. The person is looked up each time. */
function createMemory(now: () => Instant, toleranceSeconds: number) {
  const known = createRecent<string, { readonly payload: JWTPayload; readonly from: Instant; readonly until: Instant }>(
    MAX_REMEMBERED,
  );
  return async (text: string, read: () => Promise<JWTPayload>): Promise<JWTPayload> => {
    const [key, at] = [createHash("sha256").update(text).digest("base64url"), now()];
    const found = known.get(key);
    if (found && at >= found.from && at < found.until) return found.payload;
    const payload = await read();
    const expiresAt = ((payload.exp ?? 0) + toleranceSeconds) * SECOND_MS;
    known.set(key, { payload, from: at, until: Math.min(at + REMEMBERED_MS, expiresAt) });
    return payload;
  };
}

/** The code of the library, and the claim; never the token. */
function describeProblem(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "invalid";
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : thrown.message;
  return "claim" in thrown && typeof thrown.claim === "string" ? `${code} ${thrown.claim}` : code;
}

function toTexts(raw: unknown): readonly string[] {
  if (typeof raw === "string") return raw.split(" ");
  return Array.isArray(raw) ? raw.filter((one) => typeof one === "string") : [];
}
