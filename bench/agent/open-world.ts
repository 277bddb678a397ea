/** The servers of one conversation, with fresh data: a folder, a knowledge graph, a shop, a code host, and `everything`. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { EVERYTHING, INVENTORY } from "../../test/fixtures/product.ts";
import { FILES, GRAPH, ISSUES_PER_PAGE, createIssues } from "./world.ts";
import type { Issue } from "./world.ts";

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface World extends AsyncDisposable {
  /** The folder that the file server may use. */
  readonly work: string;
  /** For configurations of Glovebox. */
  readonly settings: string;
  readonly servers: Readonly<Record<string, StdioServer>>;
  /** The code host, as `openapi` of a configuration. */
  readonly openapi: Readonly<Record<string, object>>;
}

const reference = (name: string): string => resolve(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
const DOCUMENT = resolve("src/connectors/openapi/fixtures/code-host.openapi-3.1.yaml");

export async function openWorld(): Promise<World> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-")));
  const [work, settings, memory] = [join(root, "work"), join(root, "settings"), join(root, "memory.jsonl")];
  mkdirSync(settings);
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text);
  }
  writeFileSync(memory, GRAPH.map((line) => JSON.stringify(line)).join("\n"));
  const host = await openCodeHost();
  return {
    work,
    settings,
    servers: {
      files: { command: process.execPath, args: [reference("filesystem"), work] },
      memory: { command: process.execPath, args: [reference("memory")], env: { MEMORY_FILE_PATH: memory } },
      everything: EVERYTHING,
      inventory: INVENTORY,
    },
    openapi: { codehost: { document: DOCUMENT, baseUrl: host.origin } },
    async [Symbol.asyncDispose]() {
      await host.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Lists and creates issues, in memory. */
async function openCodeHost(): Promise<{ readonly origin: string; readonly close: () => Promise<void> }> {
  const issues = new Map<string, Issue[]>([["/repos/acme/web/issues", createIssues()]]);
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const list = issues.get(pathname) ?? [];
    const send = (status: number, body: unknown): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method !== "POST") {
      const start = (Number(searchParams.get("page") ?? 1) - 1) * ISSUES_PER_PAGE;
      send(200, list.slice(start, start + ISSUES_PER_PAGE));
      return;
    }
    const { title } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { readonly title: string };
    const issue = { number: list.length + 1, title, user: { login: "bench" } };
    issues.set(pathname, [...list, issue]);
    send(201, issue);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
