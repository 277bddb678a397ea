/** What the host adds to a request. A program can neither set these places nor read their values. */

import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import { createMask } from "../../vault/index.ts";

import type { Operation, ParameterPlace, SecurityScheme } from "./operation.ts";

interface Credential {
  readonly place: ParameterPlace;
  readonly name: string;
  readonly value: string;
}

/** An API returns little but its own data, so its credentials can be masked even when they are short. */
const SHORTEST = 4;

/** The resolved values, for as long as their document is loaded. */
export interface Credentials {
  /** Names of headers are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The credentials for one operation, by the security requirements of the document. */
  of(operation: Pick<Operation, "security">): readonly Credential[];
  /** True for a place that only the host fills; case is ignored. */
  isReserved(place: ParameterPlace, name: string): boolean;
  /** Masks the values in everything that comes back. */
  hide(text: string): string;
}

interface CredentialOptions {
  readonly id: ConnectorId;
  readonly headers: Readonly<Record<string, string>>;
  /** Which headers hold a secret; the others may appear in an answer. */
  readonly secretHeaders: readonly string[];
  readonly auth: Readonly<Record<string, string>>;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

/** Throws `CONFIG_INVALID` if `auth` names a scheme that the document does not have or that cannot be used. */
export function createCredentials(options: CredentialOptions): Credentials {
  const { id, headers, auth, schemes } = options;
  const byScheme = new Map(
    Object.entries(auth).map(([name, value]) => [name, toCredential(value, schemes.get(name), { id, name, schemes })]),
  );
  const fixed = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const mask = createMask({ shortest: SHORTEST });
  for (const value of toHidden(options)) mask.add(value);
  return {
    headers: fixed,
    of: ({ security }) => chooseSchemes(security, byScheme),
    isReserved: createReserved(Object.keys(headers), Object.keys(auth), schemes),
    hide: mask.hide,
  };
}

/** The places that the host fills, found by name only. A scheme that cannot be used reserves none. */
export function createReserved(
  headers: readonly string[],
  auth: readonly string[],
  schemes: ReadonlyMap<string, SecurityScheme>,
): Credentials["isReserved"] {
  const fixed = new Set(headers.map((name) => name.toLowerCase()));
  const reserved = new Set([
    ...[...fixed].map((name) => `header ${name}`),
    ...auth.flatMap((name) => toReservedPlace(schemes.get(name))),
  ]);
  return (place, name) => reserved.has(`${place} ${name.toLowerCase()}`) || (place === "cookie" && fixed.has("cookie"));
}

function toReservedPlace(scheme: SecurityScheme | undefined): readonly string[] {
  if (!scheme || scheme.kind === "unsupported") return [];
  return [scheme.kind === "apiKey" ? `${scheme.place} ${scheme.name.toLowerCase()}` : "header authorization"];
}

interface SchemeContext {
  readonly id: ConnectorId;
  readonly name: string;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

function toCredential(value: string, scheme: SecurityScheme | undefined, context: SchemeContext): Credential {
  const { id, name, schemes } = context;
  switch (scheme?.kind) {
    case "apiKey":
      return { place: scheme.place, name: scheme.name, value };
    case "basic":
      return { place: "header", name: "authorization", value: `Basic ${toBase64(value)}` };
    case "bearer":
    case "token":
      return { place: "header", name: "authorization", value: `Bearer ${value}` };
    default: {
      const known = [...schemes.keys()].slice(0, 10).join(", ") || "none";
      const what = scheme ? "cannot be used as" : "has no";
      throw new GloveboxError("CONFIG_INVALID", `${id}: the document ${what} security scheme ${JSON.stringify(name)}`, {
        hint: `Correct auth; the schemes of the document are: ${known}`,
      });
    }
  }
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

/** The whole values, and the credentials without the words in front of them. */
function toHidden({ headers, auth, secretHeaders }: CredentialOptions): readonly string[] {
  const secret = new Set([...ALWAYS_SECRET, ...secretHeaders.map((name) => name.toLowerCase())]);
  const fromHeaders = Object.entries(headers).filter(([name]) => secret.has(name.toLowerCase()));
  const values = [...fromHeaders.map(([, value]) => value), ...Object.values(auth)];
  return values.flatMap((value) => [value, value.replace(SCHEME_WORD, ""), value.replace(USER_NAME, "")]);
}

const ALWAYS_SECRET: readonly string[] = ["authorization", "cookie"];
/** The words in front of a credential: `Bearer …`, `user:…`. */
const SCHEME_WORD = /^[A-Za-z-]{1,20}\s+/;
const USER_NAME = /^[^:\s]*:/;

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
