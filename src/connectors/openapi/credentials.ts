/** What the host adds to a request. A program can neither set these places nor read their values. */

import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import { createMask } from "../../vault/index.ts";

import type { ResolvedFields } from "../settings.ts";
import type { Operation, ParameterPlace, SecurityScheme } from "./operation.ts";

interface Place {
  readonly place: ParameterPlace;
  readonly name: string;
}

interface Credential extends Place {
  readonly value: string;
}

type Schemes = ReadonlyMap<string, SecurityScheme>;

/** An API returns little but its own data, so its credentials can be masked even when they are short. */
const SHORTEST = 4;

/** The resolved values, for as long as their document is loaded. */
export interface Credentials {
  readonly headers: ResolvedFields;
  /** The credentials for one operation, by the security requirements of the document. */
  of(operation: Pick<Operation, "security">): readonly Credential[];
  /** True for a place that only the host fills; case is ignored. */
  isReserved(place: ParameterPlace, name: string): boolean;
  /** Masks the values in everything that comes back. */
  hide(text: string): string;
}

interface CredentialOptions {
  readonly id: ConnectorId;
  readonly headers: ResolvedFields;
  /** Which headers hold a secret; the others may appear in an answer. */
  readonly secretHeaders: readonly string[];
  readonly auth: ResolvedFields;
  readonly schemes: Schemes;
}

/** Throws `CONFIG_INVALID` if `auth` names a scheme that the document does not have or that cannot be used. */
export function createCredentials(options: CredentialOptions): Credentials {
  const { headers, auth, schemes } = options;
  const byScheme = new Map(Object.entries(auth).map(([name, value]) => [name, toCredential(name, value, options)]));
  const mask = createMask({ shortest: SHORTEST });
  for (const value of toHidden(options)) mask.add(value);
  return {
    headers,
    of: ({ security }) => chooseSchemes(security, byScheme),
    isReserved: createReserved(Object.keys(headers), Object.keys(auth), schemes),
    hide: mask.hide,
  };
}

/** The places that the host fills, found by name only. A scheme that cannot be used reserves none. */
export function createReserved(
  headers: readonly string[],
  auth: readonly string[],
  schemes: Schemes,
): Credentials["isReserved"] {
  const toKey = ({ place, name }: Place): string => `${place} ${name.toLowerCase()}`;
  const places = auth.map((name) => toPlace(schemes.get(name))).filter((one) => one !== undefined);
  const reserved = new Set([...headers.map((name): Place => ({ place: "header", name })), ...places].map(toKey));
  const hasCookies = headers.some((name) => name.toLowerCase() === "cookie");
  return (place, name) => reserved.has(toKey({ place, name })) || (place === "cookie" && hasCookies);
}

/** `undefined` for a scheme that cannot be used. */
function toPlace(scheme: SecurityScheme | undefined): Place | undefined {
  if (!scheme || scheme.kind === "unsupported") return undefined;
  return scheme.kind === "apiKey" ? scheme : { place: "header", name: "authorization" };
}

function toCredential(scheme: string, secret: string, { id, schemes }: CredentialOptions): Credential {
  const found = schemes.get(scheme);
  const target = toPlace(found);
  if (!found || !target) {
    const known = [...schemes.keys()].slice(0, 10).join(", ") || "none";
    const what = found ? "cannot be used as" : "has no";
    throw new GloveboxError("CONFIG_INVALID", `${id}: the document ${what} security scheme ${JSON.stringify(scheme)}`, {
      hint: `Correct auth; the schemes of the document are: ${known}`,
    });
  }
  const basic = `Basic ${Buffer.from(secret).toString("base64")}`;
  const value = found.kind === "apiKey" ? secret : found.kind === "basic" ? basic : `Bearer ${secret}`;
  return { place: target.place, name: target.name, value };
}

/**
 * The first alternative that is fully available, else all available schemes. If the document has no security
 * requirements, every configured credential is sent.
 */
function chooseSchemes(
  security: Operation["security"],
  byScheme: ReadonlyMap<string, Credential>,
): readonly Credential[] {
  if (security === undefined) return [...byScheme.values()];
  const whole = security.find((names) => names.length > 0 && names.every((name) => byScheme.has(name)));
  const names = new Set(whole ?? security.flat());
  return [...byScheme].filter(([name]) => names.has(name)).map(([, credential]) => credential);
}

/** The whole values, and the credentials without the words in front of them: `Bearer …`, `user:…`. */
function toHidden({ headers, auth, secretHeaders }: CredentialOptions): readonly string[] {
  const secret = new Set(["authorization", "cookie", ...secretHeaders.map((name) => name.toLowerCase())]);
  const fromHeaders = Object.entries(headers).filter(([name]) => secret.has(name.toLowerCase()));
  const values = [...fromHeaders.map(([, value]) => value), ...Object.values(auth)];
  return values.flatMap((value) => [value, value.replace(/^[A-Za-z-]{1,20}\s+/, ""), value.replace(/^[^:\s]*:/, "")]);
}
