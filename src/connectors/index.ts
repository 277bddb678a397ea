/** The front door of `connectors`: speaks each upstream's protocol and presents tools and calls. */

export { beginLogin } from "./login/begin-login.ts";
export type { BegunLogin, LoginRequest } from "./login/begin-login.ts";
export { parseLoginText, toLoginText } from "./login/login.ts";
export type { Login, LoginKeeper, LoginKey } from "./login/login.ts";
export { createLoginFetch } from "./login/login-fetch.ts";
export type { LoginReach } from "./login/login-fetch.ts";
export { revokeLogin } from "./login/revoke-login.ts";
export type { Revocation } from "./login/revoke-login.ts";
export { createTokenSource } from "./login/token-source.ts";
export type { TokenSource } from "./login/token-source.ts";
export { createAdapterConnector } from "./adapter/adapter-connector.ts";
export { defineAdapter } from "./adapter/define-adapter.ts";
export type { AdapterDefinition, AdapterSchema, AdapterToolDefinition } from "./adapter/define-adapter.ts";
export { parseAdapters } from "./adapter/parse-adapters.ts";
export type { CallOptions, Connector, RemoteAnnotations, RemoteResult, RemoteTool } from "./connector.ts";
export { parseVerdictText, toVerdictText } from "./mcp/era.ts";
export type { EraVerdict, EraVerdicts } from "./mcp/era.ts";
export { hideSecrets } from "./hide-secrets.ts";
export { createMcpConnector } from "./mcp/mcp-connector.ts";
export type { McpConnectorOptions } from "./mcp/mcp-connector.ts";
export { createOpenapiConnector } from "./openapi/openapi-connector.ts";
export type { OpenapiConnectorOptions } from "./openapi/openapi-connector.ts";
export { addRestart, watchRestarts } from "./watch-restarts.ts";
export { createLoanBook, watchSecrets } from "./watch-secrets.ts";
export type { Borrower } from "./watch-secrets.ts";
export { DEFAULT_MESSAGE_BYTES } from "./settings.ts";
export type { HttpSettings, StdioSettings, ConnectionSettings as UpstreamSettings } from "./settings.ts";
