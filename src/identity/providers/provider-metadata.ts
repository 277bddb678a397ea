/** The part of a provider's metadata that is used here. */

import { isJsonObject, parseJson } from "../../domain/index.ts";

import { UntrueError } from "./provider-faults.ts";

/** With the names of the protocol, as `openid-client` wants them. */
export interface ProviderMetadata {
  readonly [name: string]: string | boolean | string[] | undefined;
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly userinfo_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: string[];
  readonly id_token_signing_alg_values_supported?: string[];
  readonly authorization_response_iss_parameter_supported?: boolean;
}

const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;
const METHODS = "token_endpoint_auth_methods_supported";
const ALGORITHMS = "id_token_signing_alg_values_supported";
/** Signatures that a key of the provider verifies: neither `none` nor one with a shared secret. */
const ASYMMETRIC = /^(?:(?:RS|PS|ES)\d{3}|EdDSA|Ed25519)$/;

/** Throws UntrueError: for another issuer, and for an endpoint that is neither https nor on the host of the issuer. */
export function parseMetadata(text: string, issuer: string): ProviderMetadata {
  const raw = parseJson(text);
  if (!isJsonObject(raw)) throw new UntrueError("no metadata");
  if (raw["issuer"] !== issuer) throw new UntrueError("metadata of another issuer");
  const [authorization, token, keys] = ENDPOINTS.map((name) => parseEndpoint(raw[name], name, issuer));
  const userinfo = raw["userinfo_endpoint"];
  return {
    issuer,
    authorization_endpoint: authorization ?? "",
    token_endpoint: token ?? "",
    jwks_uri: keys ?? "",
    ...(userinfo !== undefined && { userinfo_endpoint: parseEndpoint(userinfo, "userinfo_endpoint", issuer) }),
    ...(METHODS in raw && { [METHODS]: toTexts(raw[METHODS]) }),
    ...(ALGORITHMS in raw && { [ALGORITHMS]: toTexts(raw[ALGORITHMS]).filter((one) => ASYMMETRIC.test(one)) }),
    authorization_response_iss_parameter_supported: raw["authorization_response_iss_parameter_supported"] === true,
  };
}

/** A browser is sent to one of them, so no other scheme may pass. */
function parseEndpoint(raw: unknown, name: string, issuer: string): string {
  const url = typeof raw === "string" ? URL.parse(raw) : null;
  const isOwn = url?.origin === new URL(issuer).origin;
  if (!url || url.username !== "" || url.password !== "" || (url.protocol !== "https:" && !isOwn))
    throw new UntrueError(`metadata without a valid ${name}`);
  return url.href;
}

function toTexts(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.filter((one) => typeof one === "string") : [];
}
