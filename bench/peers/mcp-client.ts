/** A minimal MCP client over stdio: it sends a request and waits for the response with that number. */

import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export interface McpClient extends AsyncDisposable {
  /** Returns the structured content of the tool's response. */
  call(name: string, args: object): Promise<Readonly<Record<string, unknown>>>;
}

/** Owns the server process and ends it when closed. */
export async function openMcpClient(server: ChildProcessByStdio<Writable, Readable, null>): Promise<McpClient> {
  const waiting = new Map<number, (message: Answer) => void>();
  let asked = 0;
  createInterface({ input: server.stdout }).on("line", (line) => {
    const message = parseAnswer(line);
    waiting.get(message.id ?? 0)?.(message);
    waiting.delete(message.id ?? 0);
  });
  const send = (message: object): void =>
    void server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method: string, params: object): Promise<Answer> =>
    new Promise((resolve) => {
      asked += 1;
      waiting.set(asked, resolve);
      send({ id: asked, method, params });
    });
  const clientInfo = { name: "bench", version: "1" };
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return {
    async call(name, args) {
      const { result } = await ask("tools/call", { name, arguments: args });
      if (!result?.structuredContent) throw new Error(`${name} failed: ${JSON.stringify(result)}`);
      return result.structuredContent;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(server, "exit");
      server.kill();
      await ended;
    },
  };
}

interface Answer {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: Readonly<Record<string, unknown>> };
}

function parseAnswer(line: string): Answer {
  return JSON.parse(line) as Answer;
}
