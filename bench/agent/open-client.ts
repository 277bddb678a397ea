/** Real MCP clients that count what a model would have in its context. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { LAUNCHER, cleanEnvironment } from "../../test/fixtures/product.ts";
import type { StdioServer } from "./open-world.ts";

/** An answer in both forms that a client can show to a model. Images cost the same in both and are left out. */
export interface Answer {
  readonly text: string;
  readonly structured: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

export interface BenchClient extends AsyncDisposable {
  /** Characters of definitions and instructions, as a model reads them. */
  readonly fixed: number;
  /** How often a person was asked. */
  asks(): number;
  call(name: string, args: object): Promise<Answer>;
}

/** For busy machines: no figure is a time. */
const TIMEOUT_MS = 300_000;

/** A person answers every form with yes. Tools in `without` are not counted. */
async function connect(server: StdioServer, cwd: string, without: readonly string[] = []): Promise<BenchClient> {
  const client = new Client(
    { name: "bench", version: "1.0.0" },
    { versionNegotiation: { mode: "legacy" }, capabilities: { elicitation: { form: {} } } },
  );
  let asks = 0;
  client.setRequestHandler("elicitation/create", () => {
    asks += 1;
    return { action: "accept", content: { decision: "this call" } };
  });
  const env = { ...cleanEnvironment(cwd), ...server.env };
  await client.connect(
    new StdioClientTransport({ command: server.command, args: [...server.args], cwd, env, stderr: "ignore" }),
    { timeout: TIMEOUT_MS },
  );
  const { tools } = await client.listTools();
  const shown = tools
    .filter(({ name }) => !without.includes(name))
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return {
    fixed: JSON.stringify(shown).length + (client.getInstructions() ?? "").length,
    asks: () => asks,
    call: async (name, args) =>
      toAnswer(await client.callTool({ name, arguments: { ...args } }, { timeout: TIMEOUT_MS })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export function toAnswer({ content, structuredContent, isError }: CallToolResult): Answer {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return {
    text,
    structured: structuredContent === undefined ? text : JSON.stringify(structuredContent),
    content: { ...(structuredContent as object | undefined) },
    isError: isError === true,
  };
}

export const connectPlain = (server: StdioServer, cwd: string): Promise<BenchClient> => connect(server, cwd);

/** Glovebox with a configuration of its own in this folder. */
export function connectGlovebox(folder: string, config: object, without?: readonly string[]): Promise<BenchClient> {
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  return connect({ command: process.execPath, args: [LAUNCHER, "mcp"] }, folder, without);
}
