/** `glovebox serve` and `glovebox mcp` from outside: real MCP clients, the request guard, and the output. */

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import {
  INVENTORY,
  LAUNCHER,
  cleanEnvironment,
  makeFolder,
  parseJsonLines,
  probe,
  runGlovebox,
  serveFor,
  startFor,
  untilEnded,
  waitForOutput,
} from "../../fixtures/product.ts";
import { openAdminSession } from "../../fixtures/admin-session.ts";

const CONFIG = { mcpServers: { inventory: INVENTORY, probe: probe() } };
const TWO_UPSTREAMS = `
  const [{ products }, said] = await Promise.all([inventory.listProducts({}), probe.echo({ text: input.text })]);
  return { count: products.length, said: said.text };
`;
const ERAS = [
  { era: "2025-11-25", mode: "legacy" },
  { era: "2026-07-28", mode: { pin: "2026-07-28" } },
] as const;

/** One sequence for every transport and era: list, search, describe, execute. */
async function travel(transport: Transport, { era, mode }: (typeof ERAS)[number]): Promise<void> {
  const client = new Client({ name: "scenario", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  try {
    assert.equal(client.getNegotiatedProtocolVersion(), era);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["search", "describe", "execute", "resume"],
    );
    assert.ok(JSON.stringify(tools).length / 4 < 1000);

    const found = await client.callTool({ name: "search", arguments: { query: "delete product", limit: 1 } });
    assert.deepEqual((found.structuredContent as { tools: unknown }).tools, [
      {
        name: "inventory.deleteProduct",
        summary: "Removes a product for good.",
        effect: "destroy",
        server: "inventory",
        upstreamName: "delete_product",
        signature: "inventory.deleteProduct(args: { sku: string }): Promise<{ deleted: string }>",
      },
    ]);

    const described = await client.callTool({ name: "describe", arguments: { names: ["inventory.getProduct"] } });
    assert.match(
      JSON.stringify(described.structuredContent),
      /declarations.*getProduct\(args: \{[^}]*sku: string;[^}]*\}\): Promise</,
    );

    const executed = await client.callTool({
      name: "execute",
      arguments: { code: TWO_UPSTREAMS, input: { text: "hello" }, limits: { wallMs: 20_000 }, detail: "full" },
    });
    const { state, value, calls } = executed.structuredContent as Record<string, unknown>;
    assert.deepEqual([executed.isError, state, value], [false, "completed", { count: 30, said: "hello" }]);
    assert.deepEqual(
      (calls as { tool: string; outcome: string }[]).map(({ tool, outcome }) => [tool, outcome]),
      [
        ["inventory.listProducts", "ok"],
        ["probe.echo", "ok"],
      ],
    );

    const failed = await client.callTool({ name: "execute", arguments: { code: 'throw new Error("no")' } });
    assert.deepEqual(
      [failed.isError, (failed.structuredContent as { error: { code: string } }).error.code],
      [true, "PROGRAM_THREW"],
    );
  } finally {
    await client.close();
  }
}

interface Answer {
  readonly status: number | undefined;
  readonly body: unknown;
}

/** `node:http`, because `fetch` does not let a test forge Host. */
function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, async (response) => {
      const body = await text(response);
      const isJson = response.headers["content-type"]?.includes("json") ?? false;
      resolve({ status: response.statusCode, body: isJson ? JSON.parse(body) : body });
    });
    sent.once("error", reject).end();
  });
}

const codeOf = ({ body }: Answer): unknown => (body as { error: { code: unknown } }).error.code;

test("serve --json prints the addresses, and /health answers without a token", async (context) => {
  const folder = makeFolder(context, CONFIG);
  const { url, mcp, admin, engine, isolation, servers } = await serveFor(context, folder);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(mcp, `${url}/mcp`);
  assert.match(admin.slice(url.length), /^\/#code=[\w-]{43}$/);
  assert.deepEqual(
    servers.map(({ name, state }) => [name, state]),
    [
      ["inventory", "ready"],
      ["probe", "ready"],
    ],
  );
  const { status, body } = await get(`${url}/health`);
  const { version: told, ...health } = body as Record<string, unknown>;
  assert.match(String(told), /^\d+\.\d+\.\d+/);
  assert.deepEqual([status, health], [200, { status: "ok", engine, isolation, upstreams: { ready: 2, failed: 0 } }]);
});

test("/health is degraded and /ready answers 503 while the store is gone, and both recover", async (context) => {
  const folder = makeFolder(context, { mcpServers: {}, store: { url: "sqlite:./data/glovebox.db" } });
  const { url } = await serveFor(context, folder);
  const ask = async () => {
    const [health, ready] = [await get(`${url}/health`), await get(`${url}/ready`)];
    const { status, cause = "" } = health.body as { readonly status: string; readonly cause?: string };
    return { told: [health.status, status, ready.status], cause };
  };
  /** An answer may be a second old, and the first child may still be starting. */
  const until = async (expected: readonly unknown[]): Promise<string> => {
    for (;;) {
      const { told, cause } = await ask();
      if (isDeepStrictEqual(told, expected)) return cause;
      await sleep(50);
    }
  };
  await until([200, "ok", 200]);
  const path = join(folder, "data", "glovebox.db");
  renameSync(path, `${path}.away`);
  const cause = await until([200, "degraded", 503]);
  assert.match(cause, /^The store was deleted or replaced while open/);
  assert.ok(!cause.includes(folder), cause);
  renameSync(`${path}.away`, path);
  await until([200, "ok", 200]);
});

test("MCP clients of both eras work over Streamable HTTP", async (context) => {
  const { mcp } = await serveFor(context, makeFolder(context, CONFIG));
  for (const era of ERAS) await travel(new StreamableHTTPClientTransport(new URL(mcp)), era);
});

test("serve refuses a foreign Host or Origin, and accepts its own", async (context) => {
  const { url, mcp } = await serveFor(context, makeFolder(context, { mcpServers: {} }));
  const { port } = new URL(url);
  for (const address of [`${url}/health`, `${url}/`, mcp]) {
    for (const headers of [
      { host: `rebound.example:${port}` },
      { host: "127.0.0.1" },
      { origin: "https://evil.example" },
      { origin: `https://127.0.0.1:${port}` },
      { origin: "null" },
    ]) {
      const answer = await get(address, headers);
      assert.deepEqual(
        [answer.status, codeOf(answer)],
        [403, "REQUEST_FORBIDDEN"],
        `${address} ${JSON.stringify(headers)}`,
      );
    }
  }
  for (const headers of [{ host: `localhost:${port}` }, { host: `[::1]:${port}` }, { origin: url }]) {
    assert.equal((await get(`${url}/health`, headers)).status, 200, JSON.stringify(headers));
  }
});

test("the admin API accepts only a session, which a one-time code opens once", async (context) => {
  const { url, admin } = await serveFor(context, makeFolder(context, CONFIG));
  const code = admin.slice(admin.indexOf("=") + 1);
  const session = await openAdminSession(admin);
  await assert.rejects(openAdminSession(admin), /used/);
  for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: `Bearer ${code}` }]) {
    const refused = await get(`${url}/api/status`, headers);
    assert.deepEqual([refused.status, codeOf(refused)], [401, "REQUEST_UNAUTHENTICATED"]);
  }
  const { status, body } = await get(`${url}/api/status`, session);
  const { upstreams } = body as { upstreams: { name: string; state: string }[] };
  assert.equal(status, 200);
  assert.deepEqual(
    upstreams.map(({ name, state }) => [name, state]),
    [
      ["inventory", "ready"],
      ["probe", "ready"],
    ],
  );
});

test("the banner of serve has the URL, the isolation level and the client configuration", async (context) => {
  const folder = makeFolder(context, { mcpServers: { probe: probe(), gone: { command: "no-such-command" } } });
  const child = startFor(context, ["serve", "--port", "0"], folder);
  const banner = await waitForOutput(child, /Stop with Ctrl-C\.\n/);
  const [, mcp] = /serves MCP at (http:\/\/127\.0\.0\.1:\d+\/mcp)\n/.exec(banner) ?? [];
  assert.ok(mcp, banner);
  const lines = banner.split("\n");
  assert.ok(lines.includes(`  ${JSON.stringify({ mcpServers: { glovebox: { type: "http", url: mcp } } })}`), banner);
  assert.ok(lines.includes(`or with Claude Code: claude mcp add --transport http glovebox ${mcp}`), banner);
  assert.match(banner, /^ {2}isolation {3}(strict|confined|process) \(/m);
  assert.match(banner, /^ {2}upstream {4}probe: ready, 7 tools$/m);
  assert.match(banner, /^ {2}! gone: command not found: no-such-command — Check that /m);
  assert.equal((await get(mcp.replace("/mcp", "/health"))).status, 200);
});

test("serve reports a port that is in use in one clear line", async (context) => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => taken.once("listening", listening));
  context.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const folder = makeFolder(context, CONFIG);
  const { code, stdout, stderr } = await runGlovebox(["serve", "--port", String(port)], { folder });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.equal(
    stderr,
    [
      `error: Cannot listen on 127.0.0.1:${port}: another program uses it [LISTEN_FAILED]`,
      "hint: Choose another port with `--port`, or stop the other program",
      "",
    ].join("\n"),
  );
});

test("serve refuses a host that others can reach", async (context) => {
  const folder = makeFolder(context, { mcpServers: {} });
  const { code, stderr } = await runGlovebox(["serve", "--port", "0", "--host", "0.0.0.0"], { folder });
  assert.equal(code, 1);
  assert.match(stderr, /^error: 0\.0\.0\.0 can be reached from other machines.*\[LISTEN_FAILED\]\nhint: /);
});

describe("mcp on standard input and output", () => {
  for (const era of ERAS) {
    test(`mcp over standard input and output works with a client of ${era.era}`, async (context) => {
      const folder = makeFolder(context, CONFIG);
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [LAUNCHER, "mcp"],
        cwd: folder,
        env: cleanEnvironment(folder),
        stderr: "ignore",
      });
      await travel(transport, era);
    });
  }

  test("mcp writes only the protocol to stdout, and ends with its input", async (context) => {
    const folder = makeFolder(context, {
      mcpServers: { gone: { command: "no-such-command" }, crash: probe("--crash"), probe: probe() },
    });
    const child = startFor(context, ["mcp"], folder);
    const [ended, output] = [untilEnded(child), text(child.stdout)];
    const send = (message: object): void => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    };
    const clientInfo = { name: "raw", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
    send({ method: "notifications/initialized" });
    const code = 'console.log("noise"); console.error("more"); return 1';
    send({ id: 2, method: "tools/call", params: { name: "execute", arguments: { code } } });
    await waitForOutput(child, /"id":2/);
    child.stdin.end();
    assert.equal(await ended, 0);
    // A server that becomes ready meanwhile changes the lists of resources and prompts.
    const messages = parseJsonLines(await output).filter(({ method }) => !String(method).endsWith("_changed"));
    assert.deepEqual(
      messages.map(({ jsonrpc, id }) => [jsonrpc, id]),
      [
        ["2.0", 1],
        ["2.0", 2],
      ],
    );
  });
});
