/** MCP on the standard streams of this process: what a client's `mcp.json` starts. Nothing else may write to stdout. */

import type { Readable, Writable } from "node:stream";

import type { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";

import type { McpDoor } from "./call-tool.ts";
import { createMcpServer } from "./create-mcp-server.ts";

/** The two ends of the pipe to the client; those of this process unless told otherwise. */
export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** A program of the largest size with its input fits several times over. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Resolves when the client goes away, after every execution of it was told to stop. */
export function serveMcpOverStdio(door: McpDoor, streams?: StdioStreams): Promise<void> {
  const servers: Server[] = [];
  const createServer = (): Server => {
    const server = createMcpServer(door);
    servers.push(server);
    return server;
  };
  return new Promise((resolve, reject) => {
    const transport = new StdioServerTransport(streams?.input, streams?.output, { maxBufferSize: MAX_MESSAGE_BYTES });
    serveStdio(createServer, { transport, onerror: (error) => void door.report(error) });
    const closeConnection = transport.onclose;
    transport.onclose = () => {
      closeConnection?.();
      Promise.all(servers.map((server) => server.close())).then(() => resolve(), reject);
    };
  });
}
