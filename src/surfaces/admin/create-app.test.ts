/** Routes, token, page and headers, over a real port. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { LAYERS, SUMMARIES, TOOLS, UPSTREAMS } from "../mcp/fixtures/memory-gateway.ts";
import { defined } from "../../domain/index.ts";
import type { PublicError } from "../../domain/index.ts";
import type { GatewayCheck } from "../gateway.ts";
import { failureSchema, healthSchema, readySchema, statusSchema } from "./contract.ts";
import { toolsSchema } from "./contract/tools.ts";
import { executionsSchema } from "./contract/executions.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

const headers = SESSION;

function makePage(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), "glovebox-web-"));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, "web");
  mkdirSync(folder);
  writeFileSync(join(root, "secret.js"), "secret");
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  writeFileSync(join(folder, "main.js"), "main");
  writeFileSync(join(folder, "notes.txt"), "notes");
  symlinkSync(join(root, "secret.js"), join(folder, "link.js"));
  return folder;
}

test("health needs no token and names no server", async (t) => {
  const { send } = await startApp(t);
  const { status, body } = await send("/health");
  assert.equal(status, 200);
  assert.deepEqual(healthSchema.parse(JSON.parse(body)), JSON.parse(body));
  assert.deepEqual(JSON.parse(body), {
    status: "ok",
    version: "9.9.9",
    engine: "isolate",
    isolation: "process",
    upstreams: { ready: 1, failed: 1 },
  });
});

const FULL: PublicError = {
  code: "STORE_UNAVAILABLE",
  message: "The disk is full",
  retry: true,
  hint: "Free some space",
};
const CHECKS: readonly { readonly name: string; readonly check: GatewayCheck; readonly answers: unknown }[] = [
  { name: "works", check: { isReady: true, problems: [] }, answers: [{ status: "ok" }, 200, { status: "ready" }] },
  {
    name: "starts its sandbox",
    check: { isReady: false, problems: [] },
    answers: [{ status: "ok" }, 503, { status: "unready", cause: "The sandbox is starting" }],
  },
  {
    name: "has a full store and an invalid rule file",
    check: { isReady: false, problems: [FULL, { code: "CONFIG_INVALID", message: "wrong rules", retry: false }] },
    answers: [
      { status: "degraded", cause: "The disk is full; wrong rules", hint: "Free some space" },
      503,
      { status: "unready", cause: "The disk is full; wrong rules", hint: "Free some space" },
    ],
  },
];
for (const { name, check, answers } of CHECKS) {
  test(`/health answers 200 and /ready as it is when the gateway ${name}`, async (t) => {
    const { send } = await startApp(t, undefined, { check: async () => check });
    const [health, ready] = [await send("/health"), await send("/ready")];
    const { status, cause, hint } = healthSchema.parse(JSON.parse(health.body));
    assert.equal(health.status, 200);
    assert.deepEqual([defined({ status, cause, hint }), ready.status, JSON.parse(ready.body)], answers);
    assert.deepEqual(readySchema.parse(JSON.parse(ready.body)), JSON.parse(ready.body));
  });
}

test("the admin API answers in the shapes of its contract", async (t) => {
  const { send } = await startApp(t);
  const read = async (path: string): Promise<unknown> => JSON.parse((await send(path, { headers })).body);
  const status = await read("/api/status");
  assert.deepEqual(status, {
    version: "9.9.9",
    engine: "isolate",
    isolation: "process",
    layers: LAYERS,
    startedAt: 500,
    upstreams: UPSTREAMS,
  });
  assert.deepEqual(statusSchema.parse(status), status);
  const executions = await read("/api/executions");
  assert.deepEqual(executions, { executions: SUMMARIES });
  assert.deepEqual(executionsSchema.parse(executions), executions);
  const tools = await read("/api/tools?query=create");
  const text =
    "github.createIssue [write] Creates an issue <img src=x onerror=alert(1)>\nServer billing is failed: connection refused Hint: Start the server";
  assert.deepEqual(tools, { tools: [TOOLS[1]], text, tokens: Math.ceil(text.length / 4) });
  assert.deepEqual(toolsSchema.parse(tools), tools);
});

test("the admin API refuses requests without a session and accepts them with one", async (t) => {
  const { send, listener } = await startApp(t);
  const wrong: readonly Record<string, string>[] = [
    {},
    { authorization: "" },
    { authorization: "Basic eDp5" },
    { authorization: "Bearer " },
    { authorization: "Bearer gbx_undefined" },
    { cookie: `glovebox-${listener.port}=` },
    { cookie: `glovebox-${listener.port}=${"x".repeat(43)}` },
    { cookie: `__Host-glovebox=${"x".repeat(43)}` },
  ];
  for (const sent of wrong)
    for (const path of ["/api/status", "/api/executions", "/api/tools", "/api/tokens", "/api/nothing"]) {
      const { status, body } = await send(path, { headers: sent });
      assert.equal(status, 401, `${JSON.stringify(sent)} ${path}`);
      assert.equal(failureSchema.parse(JSON.parse(body)).error.code, "REQUEST_UNAUTHENTICATED");
    }
  assert.equal((await send("/api/status", { headers })).status, 200);
});

test("the admin API accepts a limit of 1 to 200 executions and refuses others", async (t) => {
  const { send } = await startApp(t);
  const ask = async (query: string): Promise<number> => (await send(`/api/executions?${query}`, { headers })).status;
  for (const query of ["limit=1", "limit=199", "limit=200"]) assert.equal(await ask(query), 200, query);
  for (const query of ["limit=0", "limit=201", "limit=-1", "limit=1.5", "limit=x", "limit=", "other=1"]) {
    assert.equal(await ask(query), 400, query);
  }
});

test("the admin API refuses other methods than GET", async (t) => {
  const { send } = await startApp(t);
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    assert.equal((await send("/api/status", { method, headers })).status, 404, method);
  }
});

test("the page and its files are served with their types, and nothing else from the disk", async (t) => {
  const { send } = await startApp(t, makePage(t));
  const page = await send("/");
  assert.deepEqual(
    [page.status, page.body, page.headers["content-type"]],
    [200, "<!doctype html>", "text/html; charset=utf-8"],
  );
  const script = await send("/main.js");
  assert.deepEqual(
    [script.status, script.body, script.headers["content-type"]],
    [200, "main", "text/javascript; charset=utf-8"],
  );
  const paths = [
    "/../secret.js",
    "/..%2fsecret.js",
    "/%2e%2e/secret.js",
    "/..\\secret.js",
    "//secret.js",
    "/web/../../secret.js",
    "/link.js",
    "/notes.txt",
    "/main.js/",
    "/constructor",
  ];
  for (const path of paths) {
    const { status, body } = await send(path);
    assert.ok(status === 404 || status === 400, `${status} ${path}`);
    assert.doesNotMatch(body, /secret/);
  }
});

test("every answer has the security headers and no CORS permission", async (t) => {
  const { send } = await startApp(t, makePage(t));
  const evil = { host: "evil.example" };
  const answers = [
    await send("/"),
    await send("/health"),
    await send("/api/status"),
    await send("/nothing"),
    await send("/mcp"),
    await send("/", { headers: evil }),
  ];
  for (const { headers: got } of answers) {
    assert.match(String(got["content-security-policy"]), /^default-src 'self';.*frame-ancestors 'none'/);
    assert.equal(got["x-content-type-options"], "nosniff");
    assert.equal(got["referrer-policy"], "no-referrer");
    assert.equal(got["access-control-allow-origin"], undefined);
  }
});

test("the address of an approval opens the page, and no other unknown address does", async (t) => {
  const { send } = await startApp(t, makePage(t));
  for (const path of ["/approvals", `/approvals/ap_${"a".repeat(24)}`])
    assert.deepEqual([(await send(path)).status, (await send(path)).body], [200, "<!doctype html>"]);
  for (const path of ["/approvals/", "/approvals/ap_1", `/approvals/ap_${"a".repeat(24)}/x`, "/approval"])
    assert.equal((await send(path)).status, 404);
});
