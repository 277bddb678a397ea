/** Each misbehavior of a child server costs only its own calls, while a healthy server beside it answers. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import { GloveboxError } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import type { Connector } from "../connector.ts";
import { child, connect } from "./fixtures/connect.ts";

const SERVER = fileURLToPath(new URL("fixtures/hostile-server.mjs", import.meta.url));
const opened: Connector[] = [];

function open(mode = "plain", messageBytes = 1024 * 1024): Connector {
  const connector = connect({ ...child(SERVER, mode), messageBytes });
  opened.push(connector);
  return connector;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((connector) => connector.close()));
});

/** The value of a call, or the code and message of its error. */
async function outcome(connector: Connector, name: string, args: JsonObject = {}, ms = 20_000): Promise<unknown> {
  try {
    return (await connector.call(name, args, { signal: AbortSignal.timeout(ms) })).value;
  } catch (thrown) {
    assert.ok(thrown instanceof GloveboxError, String(thrown));
    return [thrown.code, thrown.message];
  }
}

/**
 * Calls the healthy server repeatedly until the other call has settled. Returns the result and the number of answers.
 */
async function beside(healthy: Connector, hostile: Promise<unknown>): Promise<readonly [unknown, boolean]> {
  const state = { isSettled: false, answers: 0 };
  const settled = hostile.finally(() => (state.isSettled = true));
  do {
    state.answers += 1;
    assert.deepEqual(await outcome(healthy, "echo", { n: state.answers }), { n: state.answers });
  } while (!state.isSettled);
  return [await settled, state.answers > 0];
}

const timeout = ["UPSTREAM_TIMEOUT", "up: the call exceeded its time limit"];

/** The tool to call, its arguments and time limit, and the expected result. */
const ATTACKS: readonly (readonly [title: string, tool: string, expected: unknown, args?: JsonObject, ms?: number])[] =
  [
    ["never answers", "never", timeout, {}, 300],
    ["answers with invalid JSON", "notJson", timeout, {}, 300],
    ["answers other ids first", "wrongId", "yours"],
    [
      "answers without end",
      "endless",
      ["UPSTREAM_RESULT_INVALID", "up: the server sent a message larger than 1048576 bytes"],
    ],
    ["dies in the middle of a call", "exit", ["UPSTREAM_UNREACHABLE", "up: the server exited with code 7"]],
    ["closes its output and lives on", "mute", ["UPSTREAM_UNREACHABLE", "up: the server closed its output"]],
    ["floods its standard error", "shout", "hoarse", { lines: 50_000 }],
    [
      "sends a million notifications",
      "flood",
      "flooded",
      { count: 1_000_000, method: "notifications/progress" },
      60_000,
    ],
    ["changes its tools in the middle of a run", "grow", "grown"],
  ];

for (const [title, tool, expected, args, ms] of ATTACKS) {
  test(`a server that ${title} costs only its own call`, async () => {
    const [healthy, hostile] = [open(), open()];
    await Promise.all([healthy.tools(), hostile.tools()]);
    assert.deepEqual(await beside(healthy, outcome(hostile, tool, args, ms)), [expected, true]);
    assert.deepEqual(await outcome(hostile, "echo", { again: 1 }), { again: 1 });
  });
}

test("a server that dies at its start costs only its own calls and is suspended with evidence", async () => {
  let time = 1_000_000;
  const healthy = open();
  const hostile = connect(child(SERVER, "crash"), { now: () => time });
  opened.push(hostile);
  for (let tries = 0; tries < 5; tries += 1) {
    const expected = ["UPSTREAM_UNREACHABLE", "up: the server exited with code 3"];
    assert.deepEqual(await beside(healthy, outcome(hostile, "echo")), [expected, true]);
    time += 30_000;
  }
  const { state, cause, hint } = hostile.status();
  assert.deepEqual(
    { state, cause, hint },
    {
      state: "suspended",
      cause:
        "suspended after 5 crashes within 5 minutes (the server exited with code 3, 5 times); " +
        "its last output: reading settings | cannot find the database",
      hint: "Fix the server, then run `glovebox servers restart up`",
    },
  );
  await hostile.restart?.();
  assert.equal(hostile.status().state, "idle");
});

test("a flood of notifications does not hide a change of tools", async () => {
  const connector = open();
  await connector.tools();
  let heard = 0;
  connector.onToolsChanged(() => (heard += 1));
  const flood = outcome(connector, "flood", { count: 200_000, method: "notifications/message" });
  await outcome(connector, "grow");
  assert.equal(await flood, "flooded");
  assert.deepEqual([heard, (await connector.tools()).length], [1, 2]);
});

test("the status keeps the last hundred stderr lines of a noisy server, cut to 500 bytes", async () => {
  const connector = open();
  await outcome(connector, "shout", { lines: 5000 });
  const { stderr = [] } = connector.status();
  assert.deepEqual([stderr.length, new Set(stderr.map((line) => line.length))], [100, new Set([500])]);
});

for (const [method, answer] of [
  [
    "sampling/createMessage",
    "Glovebox does not offer text of a language model (sampling): give the tool all that it needs, or use another tool",
  ],
  ["roots/list", "Glovebox does not offer roots: name the folder in the arguments, or use another tool"],
  ["something/else", "Method not found"],
] as const)
  test(`a server of 2025-11-25 that requests ${method} gets an answer that a model understands`, async () => {
    const connector = open();
    await connector.tools();
    assert.deepEqual(await outcome(connector, "request", { method }), ["UPSTREAM_FAILED", `client: ${answer}`]);
    assert.deepEqual(await outcome(connector, "echo", { again: 1 }), { again: 1 });
  });

test("a restart ends the running server and the next call starts another", async () => {
  const connector = open();
  const before = await outcome(connector, "pid");
  const pending = outcome(connector, "never");
  await connector.restart?.();
  assert.equal(connector.status().state, "idle");
  const [code] = [await pending].flat();
  assert.equal(code, "UPSTREAM_UNREACHABLE");
  assert.notDeepEqual(await outcome(connector, "pid"), before);
});
