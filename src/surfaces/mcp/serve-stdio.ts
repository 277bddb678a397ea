/** MCP on the standard streams of this process, for a client's `mcp.json`. No other code may write to stdout. */

import type { Readable, Writable } from "node:stream";

import type { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";

import type { McpDoor } from "../gateway.ts";
import { toSessionDoor } from "./call-tool.ts";
import { announceChange, createMcpServer } from "./create-mcp-server.ts";
import { filterLines } from "./filter-lines.ts";
import { refuseRepeatedIds } from "./repeated-ids.ts";

/** Several times the largest program with its input. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Several lines may arrive in one chunk; each was measured before. */
const MAX_BUFFER_BYTES = 4 * MAX_MESSAGE_BYTES;

/** Resolves when the client has disconnected and its executions were cancelled. */
export function serveMcpOverStdio(
  anyDoor: McpDoor,
  { input, output }: { readonly input: Readable; readonly output: Writable },
): Promise<void> {
  const door = toSessionDoor(anyDoor);
  const servers: Server[] = [];
  const gone = new AbortController();
  const createServer = (): Server => {
    const server = createMcpServer(door, gone.signal);
    servers.push(server);
    return server;
  };
  return new Promise((resolve, reject) => {
    const lines = filterLines(MAX_MESSAGE_BYTES, (text) => void output.write(text));
    input.pipe(lines);
    input.once("error", () => lines.end());
    const transport = new StdioServerTransport(lines, output, { maxBufferSize: MAX_BUFFER_BYTES });
    const stopListening = door.gateway.onToolsChanged(() => {
      for (const server of servers) void announceChange(server, door);
    });
    serveStdio(createServer, { transport, onerror: (error) => void door.report(error) });
    refuseRepeatedIds(transport);
    const closeConnection = transport.onclose;
    transport.onclose = () => {
      stopListening();
      gone.abort();
      closeConnection?.();
      Promise.all(servers.map((server) => server.close())).then(() => resolve(), reject);
    };
  });
}
