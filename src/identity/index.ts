/** The interface of `identity`: who a principal is. */

export { describeReach } from "./describe-reach.ts";
export { openIdentity } from "./open-identity.ts";
export type { Identity } from "./open-identity.ts";
export { LIBRARY, LOCAL, OPERATOR, isLocalClient, toLibraryPrincipal, toNamedPerson } from "./principals.ts";
export { ROLES, SCOPES, isOfAgent } from "./scopes.ts";
export type { TokenScope } from "./scopes.ts";
export type { FoundSession, OpenedSession, Sessions } from "./sessions.ts";
export { createTokenText, isTokenText } from "./token-text.ts";
export type { TokenSummary } from "./tokens.ts";
