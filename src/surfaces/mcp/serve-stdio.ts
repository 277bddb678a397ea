/** MCP on the standard streams of this process, for a client's `mcp.json`. No other code may write to stdout. */

import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import type { McpDoor } from "../gateway.ts";
import { toSessionDoor } from "./call-tool.ts";
import { announceChange, createMcpServer } from "./create-mcp-server.ts";
import { StdioWire } from "./stdio-wire.ts";
import type { Streams } from "./stdio-wire.ts";
import { StraightCalls } from "./straight-calls.ts";

/** Resolves when the client has disconnected and its executions were cancelled. */
export function serveMcpOverStdio(anyDoor: McpDoor, streams: Streams): Promise<void> {
  const door = toSessionDoor(anyDoor);
  const servers: Server[] = [];
  const gone = new AbortController();
  return new Promise((resolve, reject) => {
    const calls: StraightCalls = new StraightCalls(door, (message) => void wire.send(message).catch(() => undefined));
    const wire = new StdioWire(streams, (message) => calls.take(message));
    const createServer = ({ era }: { readonly era: "legacy" | "modern" }): Server => {
      const onAnswered = (server: Server, rawEnvelope: unknown): void => calls.admit({ server, era, rawEnvelope });
      const server = createMcpServer(door, { gone: gone.signal, onAnswered });
      servers.push(server);
      return server;
    };
    const stopListening = door.gateway.onToolsChanged(() => {
      for (const server of servers) void announceChange(server, door);
    });
    serveStdio(createServer, { transport: wire, onerror: (error) => void door.report(error) });
    const closeConnection = wire.onclose;
    wire.onclose = () => {
      stopListening();
      gone.abort();
      calls.end();
      closeConnection?.();
      Promise.all(servers.map((server) => server.close())).then(() => resolve(), reject);
    };
  });
}
