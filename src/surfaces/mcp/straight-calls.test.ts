/** Calls that do not pass through the SDK are answered as those that do; everything unusual is left to the SDK. */

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { createMcpServer } from "./create-mcp-server.ts";
import { AGENT, EXECUTION, createMemoryGateway } from "./fixtures/memory-gateway.ts";
import { serveMcpOverStdio } from "./serve-stdio.ts";
import { StraightCalls } from "./straight-calls.ts";

const CLIENT = { name: "test", version: "1" };
const ENVELOPE = {
  [PROTOCOL_VERSION_META_KEY]: "2026-07-28",
  [CLIENT_INFO_META_KEY]: CLIENT,
  [CLIENT_CAPABILITIES_META_KEY]: {},
};
const INITIALIZE = {
  jsonrpc: "2.0",
  id: "start",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT },
};

type Era = "legacy" | "modern";

/** A connection: messages go in as objects and come out in order. */
async function start(t: TestContext, era: Era) {
  const gateway = createMemoryGateway();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const reported: unknown[] = [];
  const report = (thrown: unknown): string => (reported.push(thrown), "in_1");
  const served = serveMcpOverStdio({ gateway, principal: AGENT, report }, { input, output });
  const disconnect = async (): Promise<void> => {
    input.end();
    await served;
  };
  t.after(disconnect);
  const writes: string[] = [];
  output.on("data", (chunk: Buffer) => writes.push(chunk.toString()));
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const next = async (): Promise<JsonObject> => {
    const { value } = await lines.next();
    const message = parseJson(String(value));
    return isJsonObject(message) ? message : assert.fail(`Not a message: ${String(value)}`);
  };
  const write = (...messages: readonly JsonObject[]): void =>
    void input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  const toCall = (id: Json, params: JsonObject): JsonObject => {
    const meta =
      era === "modern" ? { _meta: { ...ENVELOPE, ...(isJsonObject(params["_meta"]) && params["_meta"]) } } : {};
    return { jsonrpc: "2.0", id, method: "tools/call", params: { ...params, ...meta } };
  };
  const call = async (id: Json, params: JsonObject): Promise<JsonObject> => (write(toCall(id, params)), next());
  if (era === "legacy") {
    write(INITIALIZE);
    await next();
  }
  /** The first call of a connection passes through the SDK; those after it do not have to. */
  const open = async (): Promise<void> => void (await call("first", { name: "search", arguments: {} }));
  return { gateway, reported, writes, next, write, toCall, call, open, disconnect };
}

const execute = (code: string, more: JsonObject = {}): JsonObject => ({
  name: "execute",
  arguments: { code, ...more },
});

const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "a search": { name: "search", arguments: { query: "list" } },
  "a description": { name: "describe", arguments: { names: ["github"] } },
  "an execution": execute("1", { input: { deep: [{ a: null }] } }),
  "a failed execution": execute("fail"),
  "an internal fault": execute("broken"),
  "a running execution": { name: "resume", arguments: { execution: EXECUTION } },
  "an unknown execution": { name: "resume", arguments: { execution: "ex_1" } },
  "an unknown tool": { name: "nothing", arguments: {} },
  "wrong arguments": { name: "execute", arguments: { code: 5 } },
  "no arguments": { name: "search" },
  "arguments that are not an object": { name: "search", arguments: [] },
  "a name that is not a string": { name: 5, arguments: {} },
  "no name": {},
  "a task": { name: "search", arguments: {}, task: { ttl: 1 } },
  "an invalid request state": { name: "execute", arguments: { code: "1" }, requestState: "x" },
  "a trace": { ...execute("1"), _meta: { traceparent: `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01` } },
};

for (const era of ["legacy", "modern"] as const) {
  describe(`straight calls of the ${era} era`, () => {
    for (const [what, params] of Object.entries(REQUESTS)) {
      test(`the answer to ${what} is the one that the SDK gives`, async (t) => {
        const [fresh, warm] = [await start(t, era), await start(t, era)];
        await warm.open();
        const [expected, answer] = [await fresh.call(7, params), await warm.call(7, params)];
        assert.deepEqual(answer, expected);
        assert.deepEqual(warm.gateway.requests.map(toComparable), fresh.gateway.requests.map(toComparable));
        assert.equal(warm.reported.length, fresh.reported.length);
      });
    }

    test("progress is reported to the token of the call before its answer", async (t) => {
      const { gateway, write, toCall, next, open } = await start(t, era);
      await open();
      Object.assign(gateway, {
        open: async ({ onEvent, ...request }: Parameters<typeof gateway.open>[0]) => {
          onEvent?.({ kind: "opened", execution: EXECUTION });
          return createMemoryGateway().open(request);
        },
      });
      write(toCall(8, { ...execute("1"), _meta: { progressToken: "p" } }));
      const { method, params } = await next();
      const expected = { progressToken: "p", progress: 1, message: `Execution ${EXECUTION} started` };
      assert.deepEqual([method, params], ["notifications/progress", expected]);
      assert.equal((await next())["id"], 8);
    });

    test("a repeated id is refused while its call is open, and a cancelled call has no answer and frees its id", async (t) => {
      const { gateway, write, toCall, call, next, open } = await start(t, era);
      await open();
      write(toCall(7, execute("wait")), toCall(7, execute("second")));
      const { id, error } = await next();
      assert.deepEqual([id, isJsonObject(error) && error["code"]], [7, -32_600]);
      write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, reason: "enough" } });
      // The cancelled execution ends first, and its result goes nowhere.
      await nextTurn();
      const { result } = await call(7, execute("again"));
      const content = isJsonObject(result) ? result["structuredContent"] : undefined;
      assert.deepEqual(isJsonObject(content) && content["value"], { code: "again", input: null });
      assert.deepEqual(gateway.aborted, ["wait"]);
    });

    test("a client that disconnects cancels its open calls", async (t) => {
      const { gateway, write, toCall, open, disconnect } = await start(t, era);
      await open();
      write(toCall(7, execute("wait a")), toCall(8, execute("wait b")));
      await disconnect();
      await nextTurn();
      assert.deepEqual(gateway.aborted, ["wait a", "wait b"]);
    });

    test("answers of one turn leave in one write", async (t) => {
      const { write, toCall, next, open, writes } = await start(t, era);
      await open();
      const before = writes.length;
      write(...["a", "b", "c"].map((id) => toCall(id, { name: "search", arguments: {} })));
      const ids = [await next(), await next(), await next()].map(({ id }) => id);
      assert.deepEqual([ids, writes.length - before], [["a", "b", "c"], 1]);
    });
  });
}

test("an envelope that differs from the checked one is checked again", async (t) => {
  const { call, open } = await start(t, "modern");
  await open();
  const params = { name: "search", arguments: {} };
  const wrong = await call(7, { ...params, _meta: { [CLIENT_CAPABILITIES_META_KEY]: "none" } });
  assert.ok(isJsonObject(wrong["error"]), JSON.stringify(wrong));
  const other = await call(8, { ...params, _meta: { [LOG_LEVEL_META_KEY]: "debug" } });
  assert.ok(isJsonObject(other["result"]), JSON.stringify(other));
});

/** The signal and the listener are created for each request. */
function toComparable({
  signal,
  onEvent,
  principal,
  ...request
}: {
  signal?: unknown;
  onEvent?: unknown;
  principal: object;
}) {
  return { ...request, principal: { ...principal, session: "" }, hasSignal: signal !== undefined, onEvent };
}

describe("take", () => {
  const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search", arguments: {} } } as const;
  const open = (era: Era = "legacy", rawEnvelope?: unknown, isAdmitted = true): ((message: JsonObject) => boolean) => {
    const door = { gateway: createMemoryGateway(), principal: AGENT, report: () => "in_1" };
    const calls = new StraightCalls(door, () => undefined);
    if (isAdmitted) calls.admit({ server: createMcpServer(door), era, rawEnvelope });
    return (message) => calls.take(message);
  };
  const withParams = (more: JsonObject): JsonObject => ({ ...CALL, params: { ...CALL.params, ...more } });

  test("nothing is taken before the SDK has answered a call", () => {
    assert.deepEqual([open("legacy", undefined, false)(CALL), open()(CALL)], [false, true]);
  });

  test("a call with an envelope on a connection of 2025, or without one on one of 2026, is left to the SDK", () => {
    assert.equal(open()(withParams({ _meta: ENVELOPE })), false);
    assert.equal(open("legacy", ENVELOPE)(withParams({ _meta: ENVELOPE })), false);
    assert.equal(open("modern", ENVELOPE)(CALL), false);
    assert.equal(open("modern")(CALL), false);
    assert.equal(open("modern", ENVELOPE)(withParams({ _meta: ENVELOPE })), true);
  });

  test("messages in an unusual form are left to the SDK, and usual ones are taken", () => {
    const unusual: readonly JsonObject[] = [
      { ...CALL, extra: 1 },
      { jsonrpc: "2.0", method: "tools/call", params: CALL.params },
      { ...CALL, method: "tools/list" },
      { ...CALL, method: "ping" },
      { ...CALL, params: [] },
      withParams({ name: 5 }),
      withParams({ arguments: [] }),
      withParams({ arguments: null }),
      withParams({ task: {} }),
      withParams({ inputResponses: {} }),
      withParams({ requestState: "x" }),
      withParams({ _meta: 5 }),
      withParams({ _meta: { progressToken: 1.5 } }),
      withParams({ _meta: { progressToken: null } }),
      withParams({ _meta: { "io.modelcontextprotocol/related-task": { taskId: "1" } } }),
      withParams({ _meta: { [CLIENT_INFO_META_KEY]: null } }),
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      { jsonrpc: "2.0", method: "notifications/cancelled" },
    ];
    assert.deepEqual(
      unusual.map((message) => open()(message)),
      unusual.map(() => false),
    );
    const usual: readonly JsonObject[] = [
      CALL,
      { ...CALL, id: "a" },
      { ...CALL, params: { name: "search" } },
      withParams({ _meta: {} }),
      withParams({ _meta: { progressToken: "p", "example.com/own": 1 } }),
    ];
    assert.deepEqual(
      usual.map((message) => open()(message)),
      usual.map(() => true),
    );
  });
});
