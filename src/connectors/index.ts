/** The front door of `connectors`: speaks each upstream's protocol and presents tools and calls. */

export type { Attachment, CallOptions, Connector, RemoteAnnotations, RemoteResult, RemoteTool } from "./connector.ts";
export { createMcpConnector } from "./mcp/mcp-connector.ts";
export type { McpConnectorOptions } from "./mcp/mcp-connector.ts";
export { DEFAULT_MESSAGE_BYTES } from "./settings.ts";
export type { HttpSettings, StdioSettings, UpstreamSettings } from "./settings.ts";
