/** The interface of `identity`: who a principal is. */

export { openIdentity } from "./open-identity.ts";
export type { Identity } from "./open-identity.ts";
export { LIBRARY, LOCAL, OPERATOR, isLocalClient, toLibraryPrincipal, toNamedPerson } from "./principals.ts";
export { AGENT_SCOPES, ROLES, SCOPES, isOfAgent } from "./scopes.ts";
export type { TokenScope } from "./scopes.ts";
export type { FoundSession, OpenedSession, Sessions } from "./sessions.ts";
export { createTokenText, isTokenText } from "./token-text.ts";
export type { Tokens, TokenSummary } from "./tokens.ts";
