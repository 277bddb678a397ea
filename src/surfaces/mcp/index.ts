/** The front door of the MCP surface: what a client speaks to, over standard streams or HTTP. */

export type { McpDoor } from "./call-tool.ts";
export { createMcpRoutes, MCP_HTTP_LIMITS } from "./create-mcp-routes.ts";
export type { McpRoutes, McpRoutesOptions } from "./create-mcp-routes.ts";
export { createMcpServer } from "./create-mcp-server.ts";
export type { SessionLimits } from "./open-sessions.ts";
export { serveMcpOverStdio } from "./serve-stdio.ts";
export type { StdioStreams } from "./serve-stdio.ts";
