/** A gateway with a call that needs a person, and real MCP clients with a person who answers, or without. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ElicitResult, Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import type { Era } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { LAUNCHER, cleanEnvironment, makeFolder, probe, serveFor } from "./product.ts";

/** What the person reads. */
export interface Form {
  readonly message: string;
  readonly requestedSchema: unknown;
}

export type Answer = (form: Form) => ElicitResult | Promise<ElicitResult>;

/** As a form offers them. */
export const CHOICES = [
  "this call",
  "all calls of this tool in this execution",
  "the same call for this session",
  "reject",
] as const;

export const accept = (decision: string): ElicitResult => ({ action: "accept", content: { decision } });

/** A program whose one call needs a person. */
export const CHANGE = "return await probe.change({ to: 'one' })";

export interface View {
  readonly execution: string;
  readonly state: string;
  readonly value?: unknown;
  readonly error?: { readonly code: string };
  readonly approvals?: readonly string[];
}

export interface Scene {
  readonly folder: string;
  /** The address of its gateway, which is started when it is first asked for. */
  readonly mcp: () => Promise<string>;
  /** How often the upstream was really called. */
  readonly changes: () => number;
}

/** The probe writes down each change. */
export async function openScene(context: TestContext, more: object): Promise<Scene> {
  const log = join(makeFolder(context), "changes");
  const folder = makeFolder(context, {
    mcpServers: { probe: probe("--log", log) },
    policy: { rules: [{ decision: "ask", tools: ["probe.change"], reason: "It changes things" }] },
    ...more,
  });
  let served: Promise<string> | undefined;
  return {
    folder,
    mcp: () => (served ??= serveFor(context, folder).then(({ mcp }) => mcp)),
    changes: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0),
  };
}

interface Connected {
  readonly client: Client;
  readonly forms: Form[];
}

async function connect(context: TestContext, transport: Transport, { mode }: Era, answer?: Answer): Promise<Connected> {
  const forms: Form[] = [];
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode }, capabilities });
  if (answer) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      assert.ok("requestedSchema" in params);
      const form = { message: params.message, requestedSchema: params.requestedSchema };
      forms.push(form);
      return answer(form);
    });
  }
  await client.connect(transport);
  context.after(() => client.close());
  return { client, forms };
}

/** Without an answer it is a client that cannot show forms. */
export async function connectHttp(context: TestContext, scene: Scene, era: Era, answer?: Answer): Promise<Connected> {
  return connect(context, new StreamableHTTPClientTransport(new URL(await scene.mcp())), era, answer);
}

export async function connectStdio(
  context: TestContext,
  { folder }: Scene,
  era: Era,
  answer: Answer,
): Promise<Connected> {
  const env = cleanEnvironment(folder);
  const args = [LAUNCHER, "mcp"];
  return connect(context, new StdioClientTransport({ command: process.execPath, args, cwd: folder, env }), era, answer);
}

export async function call(client: Client, name: string, args: object): Promise<View> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent as View;
}
