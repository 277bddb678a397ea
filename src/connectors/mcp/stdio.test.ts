/** The connector against a hostile child process: each misbehavior costs only the call that met it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { GloveboxError, parseConnectorId } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";

import { createMcpConnector } from "./mcp-connector.ts";
import type { Connector } from "../connector.ts";
import type { StdioSettings } from "../settings.ts";

const SERVER = fileURLToPath(new URL("fixtures/hostile-server.mjs", import.meta.url));
const ID = parseConnectorId("hostile");
assert.ok(ID);
const id = ID;
const opened: Connector[] = [];
/** Children that were handed to the keeper; the boolean tells whether they were released. */
const kept = new Map<number, boolean>();
const keeper = { keep: (pid: number) => kept.set(pid, false), release: (pid: number) => kept.set(pid, true) };
const clean = (text: string): string => text.replaceAll("\u001b", "").replaceAll("secret-canary", "[secret]");
let time = 1_000_000;

function connect(mode: string, overrides: Partial<StdioSettings> = {}): Connector {
  const settings: StdioSettings = {
    kind: "stdio",
    command: process.execPath,
    args: [SERVER, ...mode.split(" ")],
    resolveEnv: async () => ({}),
    startMs: 5000,
    ...overrides,
  };
  const environment = { PATH: process.env["PATH"], HOME: "/home/x", NODE_OPTIONS: "--no-warnings", CANARY: "leak" };
  const egress = openEgress();
  const connector = createMcpConnector({ id, settings, environment, keeper, egress, now: () => time, clean });
  opened.push(connector);
  return connector;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((connector) => connector.close()));
  assert.deepEqual(
    [...kept.values()].filter((released) => !released),
    [],
  );
  kept.clear();
});

const call = async (connector: Connector, name: string, args: Record<string, Json> = {}): Promise<Json> =>
  (await connector.call(name, args, { signal: AbortSignal.timeout(5000) })).value;

async function refusal(promise: Promise<unknown>): Promise<readonly [string, string]> {
  const thrown = await promise.then(
    () => assert.fail("The call should have failed"),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof GloveboxError, String(thrown));
  return [thrown.code, thrown.message];
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The processes that still exist after a minute: a signal takes a moment to end a process. */
async function untilGone(pids: readonly unknown[]): Promise<readonly number[]> {
  const left = (): number[] => pids.map(Number).filter(isAlive);
  for (const deadline = performance.now() + 60_000; left().length > 0 && performance.now() < deadline;) await wait(10);
  return left();
}

test("nothing starts before the first use, and concurrent callers share one start", async () => {
  const connector = connect("plain");
  assert.deepEqual(connector.status(), { name: id, state: "idle", transport: "stdio", tools: 0, since: time });
  assert.equal(kept.size, 0);
  const lists = await Promise.all([connector.tools(), connector.tools(), connector.tools()]);
  const tool = { name: "echo", description: "", input: { type: "object" }, output: null, annotations: {} };
  assert.deepEqual(lists, [[tool], [tool], [tool]]);
  assert.equal(kept.size, 1);
  const ready = { name: id, state: "ready", transport: "stdio", era: "2025-11-25", tools: 1, since: time };
  assert.deepEqual(connector.status(), ready);
});

test("a child sees five variables of the gateway and the configured ones", async () => {
  const connector = connect("plain", { resolveEnv: async () => ({ TOKEN: "t", HOME: "/other" }) });
  const env = await call(connector, "env");
  assert.deepEqual(env, { PATH: process.env["PATH"], HOME: "/other", TOKEN: "t" });
});

test("a missing command is named with a hint, and tried again after the pause", async () => {
  const connector = connect("plain", { command: "no-such-command-anywhere" });
  const message = "hostile: command not found: no-such-command-anywhere";
  assert.deepEqual(await refusal(connector.tools()), ["UPSTREAM_UNREACHABLE", message]);
  assert.deepEqual(connector.status(), {
    name: id,
    state: "failed",
    transport: "stdio",
    tools: 0,
    since: time,
    cause: "command not found: no-such-command-anywhere",
    hint: "Check that no-such-command-anywhere is installed and on the PATH of the gateway",
  });
  const waiting = `${message}; the next try is in 0.3 s`;
  assert.deepEqual(await refusal(call(connector, "echo")), ["UPSTREAM_UNREACHABLE", waiting]);
  time += 250;
  assert.deepEqual(await refusal(connector.tools()), ["UPSTREAM_UNREACHABLE", message]);
});

test("an exit before the handshake is explained to the operator with the last output", async () => {
  const connector = connect("crash");
  const expected = ["UPSTREAM_UNREACHABLE", "hostile: the server exited with code 3"];
  assert.deepEqual(await refusal(connector.tools()), expected);
  const { state, cause, stderr } = connector.status();
  assert.deepEqual(
    { state, cause, stderr },
    {
      state: "failed",
      cause: "the server exited with code 3; its last output: reading settings | cannot find the database",
      stderr: ["reading settings", "cannot find the database"],
    },
  );
});

test("a server that never answers fails its start in time, at the handshake and at the listing", async () => {
  for (const mode of ["silent", "silent-list"]) {
    const connector = connect(mode, { startMs: 300 });
    const expected = ["UPSTREAM_TIMEOUT", "hostile: it was not ready within 300 ms"];
    assert.deepEqual(await refusal(connector.tools()), expected);
    assert.equal(connector.status().state, "failed");
  }
});

test("lines that are not messages do not end the connection and are kept as evidence", async () => {
  const connector = connect("garbage");
  assert.deepEqual(await call(connector, "echo", { a: 1 }), { a: 1 });
  await refusal(call(connector, "exit"));
  assert.equal(
    connector.status().cause,
    "the server exited with code 7; 3 lines on its standard output are not messages, " +
      "the first: Welcome to the hostile server!",
  );
});

test("a crash fails the calls in progress, and the next call starts the server again", async () => {
  const connector = connect("plain");
  const pending = refusal(call(connector, "never"));
  const expected = ["UPSTREAM_UNREACHABLE", "hostile: the server exited with code 7"];
  assert.deepEqual(await refusal(call(connector, "exit")), expected);
  assert.deepEqual(await pending, expected);
  assert.equal(connector.status().state, "failed");
  assert.deepEqual(await call(connector, "echo", { again: true }), { again: true });
  assert.equal(kept.size, 2);
});

test("a server that crashed leaves no child processes behind", async () => {
  const connector = connect("stubborn");
  const family = Object.values((await call(connector, "pid")) ?? {});
  assert.deepEqual(family.map(isAlive), [true, true]);
  await refusal(call(connector, "exit"));
  assert.deepEqual(await untilGone(family), []);
});

test("a server that dies at each call is started less and less often", async () => {
  const connector = connect("plain");
  await refusal(call(connector, "exit"));
  await refusal(call(connector, "exit"));
  const [, message] = await refusal(call(connector, "exit"));
  assert.equal(message, "hostile: the server exited with code 7; the next try is in 0.3 s");
  assert.equal(kept.size, 2);
});

test("output of a dying server is in the status, cleaned, and not in the error of the call", async () => {
  const connector = connect("plain");
  const expected = ["UPSTREAM_UNREACHABLE", "hostile: the server exited with code 8"];
  assert.deepEqual(await refusal(call(connector, "lastGasp")), expected);
  assert.deepEqual(connector.status().stderr, ["[secret] in the last words"]);
});

test("answers with unknown ids and duplicate answers are ignored", async () => {
  const connector = connect("plain");
  assert.equal(await call(connector, "wrongId"), "yours");
  assert.deepEqual(await call(connector, "echo", {}), {});
});

test("an invalid result, a refusal and a failure have different errors", async () => {
  const connector = connect("plain");
  const [invalid] = await refusal(call(connector, "invalid"));
  assert.equal(invalid, "UPSTREAM_RESULT_INVALID");
  assert.deepEqual(await refusal(call(connector, "refused")), ["UPSTREAM_FAILED", "hostile: Invalid [31mparams"]);
  const [code, message] = await refusal(call(connector, "failed"));
  assert.deepEqual([code, message.length, message.slice(0, 10)], ["UPSTREAM_FAILED", 2048, "no luck xx"]);
  assert.equal(connector.status().state, "ready");
});

test("a message may be as long as the limit; a longer one ends the connection before it is held", async () => {
  const connector = connect("plain", { messageBytes: 4096 });
  for (const bytes of [4095, 4096]) assert.equal(typeof (await call(connector, "size", { bytes })), "string");
  const expected = ["UPSTREAM_RESULT_INVALID", "hostile: the server sent a message larger than 4096 bytes"];
  assert.deepEqual(await refusal(call(connector, "size", { bytes: 4097 })), expected);
  assert.deepEqual(await refusal(call(connector, "endless")), expected);
});

test("an aborted call is cancelled at the server and nothing else is affected", async () => {
  const connector = connect("plain");
  await connector.tools();
  const other = call(connector, "never");
  other.catch(() => undefined);
  const timeout = connector.call("never", {}, { signal: AbortSignal.timeout(50) });
  assert.deepEqual(await refusal(timeout), ["UPSTREAM_TIMEOUT", "hostile: the call exceeded its time limit"]);
  const stop = new AbortController();
  const stopped = connector.call("never", {}, { signal: stop.signal });
  await wait(10);
  stop.abort(new Error("an internal reason"));
  assert.deepEqual(await refusal(stopped), ["REQUEST_CANCELLED", "hostile: the call was cancelled"]);
  assert.deepEqual(await refusal(connector.call("echo", {}, { signal: stop.signal })), [
    "REQUEST_CANCELLED",
    "hostile: the call was cancelled",
  ]);
  assert.deepEqual(await call(connector, "cancelled"), ["cancelled", "cancelled"]);
  assert.equal(kept.size, 1);
});

test("a caller that stops waiting does not stop the start", async () => {
  const connector = connect("plain");
  const impatient = refusal(connector.tools(AbortSignal.timeout(1)));
  const patient = connector.tools();
  assert.equal((await impatient)[0], "UPSTREAM_TIMEOUT");
  assert.equal((await patient).length, 1);
});

test("a changed list is announced once and fetched on the next listing", async () => {
  const connector = connect("plain");
  let heard = 0;
  const stop = connector.onToolsChanged(() => (heard += 1));
  connector.onToolsChanged(() => assert.fail("a listener that throws is ignored"));
  await call(connector, "grow");
  assert.deepEqual([heard, connector.status().tools], [1, 1]);
  assert.deepEqual(
    (await connector.tools()).map((tool) => tool.name),
    ["echo", "extra1"],
  );
  stop();
  // After 100 ms there is room for notifications again.
  time += 100;
  await call(connector, "grow");
  assert.deepEqual([heard, (await connector.tools()).length], [1, 3]);
});

test("a server that announces a change again and again is listed after pauses that double", async () => {
  const connector = connect("plain");
  await connector.tools();
  let listed = 0;
  let listing: Promise<unknown> = Promise.resolve();
  connector.onToolsChanged(() => {
    listed += 1;
    listing = listing.then(() => connector.tools());
  });
  const startedAt = performance.now();
  assert.equal(await call(connector, "announce", { count: 100 }), "announced");
  await listing;
  // The first pause has 100 ms. The clock of the connector stands still, so the server is never quiet.
  const most = 1 + Math.log2(1 + (performance.now() - startedAt) / 100);
  assert.ok(listed >= 1 && listed <= most, `${listed} listings, at most ${most} expected`);
});

test("pages are followed to their end, within limits", async () => {
  assert.equal((await connect("pages 100 100").tools()).length, 10_000);
  for (const mode of ["pages 101 1", "pages 2 5001", "endless-pages"]) {
    assert.equal((await refusal(connect(mode).tools()))[0], "UPSTREAM_RESULT_INVALID");
  }
});

test("tools with one name are marked as unusable", async () => {
  const tools = await connect("twins").tools();
  assert.deepEqual(new Set(tools.map(({ unusable }) => unusable)), new Set(["another tool has the same name"]));
});

test("closing ends a server that ignores every request to exit, and its children", async () => {
  const connector = connect("stubborn");
  const pids = await call(connector, "pid");
  const family = Object.values(pids ?? {});
  assert.deepEqual(family.map(isAlive), [true, true]);
  const pending = refusal(call(connector, "never"));
  await connector.close();
  assert.deepEqual(await untilGone(family), []);
  const closed = ["UPSTREAM_UNREACHABLE", "hostile: the connection was closed by Glovebox"];
  assert.deepEqual(await pending, closed);
  assert.deepEqual(await refusal(connector.tools()), closed);
  assert.equal(connector.status().state, "closed");
});

test("closing during the start ends the start", async () => {
  const connector = connect("silent");
  const starting = refusal(connector.tools());
  await wait(100);
  await connector.close();
  assert.equal((await starting)[0], "UPSTREAM_UNREACHABLE");
});
