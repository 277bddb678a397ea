/** Roles of people and scopes of tokens. */

import { GloveboxError } from "../domain/index.ts";
import type { Principal } from "../domain/index.ts";

export type RoleName = NonNullable<Principal["roles"]>[number];

export const ROLES: readonly RoleName[] = Object.freeze(["agent", "reviewer", "operator"]);

/** What a token allows over HTTP. The last three are for services. */
export const SCOPES = Object.freeze([
  "execute",
  "execute:read",
  "search",
  "ledger:read",
  "metrics:read",
  "approvals:read",
] as const);

export type TokenScope = (typeof SCOPES)[number];

/** What a client can ask for at `/mcp`. A token with none of these belongs to a service. */
export const AGENT_SCOPES: readonly TokenScope[] = ["execute", "execute:read", "search"];

export function isOfAgent(scopes: readonly TokenScope[]): boolean {
  return scopes.some((scope) => AGENT_SCOPES.includes(scope));
}

/** In the order of the table, without repetition. Throws REQUEST_INVALID for none and for an unknown one. */
export function parseRoles(raw: readonly string[]): readonly RoleName[] {
  return parseAll(raw, ROLES, "role");
}

export function parseScopes(raw: readonly string[]): readonly TokenScope[] {
  return parseAll(raw, SCOPES, "scope");
}

function parseAll<Name extends string>(raw: readonly string[], known: readonly Name[], what: string): readonly Name[] {
  const unknown = raw.find((one) => !known.some((name) => name === one));
  const problem =
    unknown === undefined
      ? `At least one ${what} is needed`
      : `${JSON.stringify(unknown.slice(0, 80))} is not a ${what}`;
  if (unknown === undefined && raw.length > 0) return known.filter((name) => raw.includes(name));
  throw new GloveboxError("REQUEST_INVALID", problem, { hint: `The ${what}s are ${known.join(", ")}` });
}
