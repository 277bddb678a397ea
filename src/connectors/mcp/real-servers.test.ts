/** The connector against the reference servers that people use. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { parseConnectorId } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";
import { createMcpConnector } from "./mcp-connector.ts";
import type { Connector, RemoteTool } from "../connector.ts";
import type { ConnectionSettings } from "../settings.ts";
import { findFreePort } from "./fixtures/connect.ts";

const started: ChildProcess[] = [];
const opened: Connector[] = [];
const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-")));

const clean = (text: string): string => text;
const resolveEnv = async (): Promise<Record<string, string>> => ({});
const resolveHeaders = async (): Promise<Record<string, string>> => ({ authorization: "Bearer x" });

function locate(name: string): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));
}

function connect(settings: ConnectionSettings): Connector {
  const id = parseConnectorId("real");
  assert.ok(id);
  const keeper = { keep: () => undefined, release: () => undefined };
  const egress = openEgress();
  const environment = { PATH: process.env["PATH"] };
  const connector = createMcpConnector({ id, settings, environment, keeper, egress, now: Date.now, clean });
  opened.push(connector);
  return connector;
}

function connectChild(name: string, ...args: readonly string[]): Connector {
  const command = process.execPath;
  return connect({ kind: "stdio", command, args: [locate(name), ...args], resolveEnv, startMs: 10_000 });
}

function startHttpServer(port: number): ChildProcess {
  const child = spawn(process.execPath, [locate("server-everything"), "streamableHttp"], {
    env: { PORT: String(port) },
    stdio: "ignore",
  });
  started.push(child);
  return child;
}

/** Connects, and retries while the server is still starting. */
async function untilReady(connector: Connector): Promise<readonly RemoteTool[]> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const tools = await connector.tools().catch(() => undefined);
    if (tools) return tools;
    await wait(50);
  }
  return connector.tools();
}

after(async () => {
  await Promise.all(opened.map((connector) => connector.close()));
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

const call = async (connector: Connector, name: string, args: JsonObject): Promise<Json> =>
  (await connector.call(name, args, { signal: AbortSignal.timeout(10_000) })).value;

test("the everything server works over stdio", async () => {
  const connector = connectChild("server-everything", "stdio");
  const tools = await connector.tools();
  assert.ok(tools.length > 5);
  assert.equal(await call(connector, "echo", { message: "hi" }), "Echo: hi");
  assert.equal(await call(connector, "get-sum", { a: 2, b: 3 }), "The sum of 2 and 3 is 5.");
  const weather = await call(connector, "get-structured-content", { location: "New York" });
  assert.deepEqual(weather, { temperature: 33, conditions: "Cloudy", humidity: 82 });
  await assert.rejects(call(connector, "get-sum", { a: "x" }), { code: "UPSTREAM_FAILED" });
  await assert.rejects(call(connector, "no-such-tool", {}), { code: "UPSTREAM_FAILED" });
});

test("the filesystem server works over stdio and its annotations are read", async () => {
  writeFileSync(join(folder, "note.txt"), "remember");
  const connector = connectChild("server-filesystem", folder);
  const tools = new Map((await connector.tools()).map((tool) => [tool.name, tool]));
  assert.equal(tools.get("read_text_file")?.annotations.readOnly, true);
  assert.equal(tools.get("write_file")?.annotations.destructive, true);
  assert.notEqual(tools.get("read_text_file")?.output, null);
  const read = await call(connector, "read_text_file", { path: join(folder, "note.txt") });
  assert.deepEqual(read, { content: "remember" });
  await assert.rejects(call(connector, "read_text_file", { path: "/etc/passwd" }), { code: "UPSTREAM_FAILED" });
});

test("the everything server works over HTTP, also after a restart of the server", async () => {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const first = startHttpServer(port);
  const connector = connect({ kind: "http", url, resolveHeaders, startMs: 10_000 });
  assert.ok((await untilReady(connector)).length > 5);
  assert.equal(await call(connector, "echo", { message: "hi" }), "Echo: hi");
  assert.equal(connector.status().transport, "http");
  const ended = once(first, "exit");
  first.kill("SIGKILL");
  await ended;
  await assert.rejects(call(connector, "echo", { message: "hi" }), { code: "UPSTREAM_UNREACHABLE" });
  startHttpServer(port);
  await untilReady(connector);
  assert.equal(await call(connector, "echo", { message: "back" }), "Echo: back");
});
