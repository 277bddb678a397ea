/** A minimal MCP client over stdio: it sends a request and waits for the response with that number. */

import { openLines } from "./open-lines.ts";
import type { LineServer } from "./open-lines.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface McpClient extends AsyncDisposable {
  readonly pid: number;
  /** Returns the structured content of the tool's response. */
  call(name: string, args: object): Promise<Fields>;
}

/** Owns the server process and ends it when closed. */
export async function openMcpClient(server: LineServer): Promise<McpClient> {
  const lines = openLines(server);
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  await lines.ask({ jsonrpc: "2.0", method: "initialize", params });
  lines.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return {
    pid: lines.pid,
    async call(name, args) {
      const answer = await lines.ask({ jsonrpc: "2.0", method: "tools/call", params: { name, arguments: args } });
      const { structuredContent } = (answer["result"] ?? {}) as { readonly structuredContent?: Fields };
      if (!structuredContent) throw new Error(`${name} failed: ${JSON.stringify(answer)}`);
      return structuredContent;
    },
    [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose](),
  };
}
