/** Which past executions can be shown again, and what is said of the others. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { AGENT, EXECUTION } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_LIMITS } from "../../domain/index.ts";
import type { ExecutionResult } from "../../domain/index.ts";
import { NAMESPACES, programOf } from "../../sandbox/fixtures/test-sandbox.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";

import { openJournals } from "../journal/open-journals.ts";
import { findDifference } from "./find-difference.ts";
import { findKept } from "./kept.ts";

const ASKED = { kind: "asked", principal: AGENT, source: "1", limits: DEFAULT_LIMITS } as const;
const BEGAN = {
  kind: "began",
  start: { seed: [1, 2, 3, 4], atMs: 5 },
  program: programOf("return 1"),
  namespaces: NAMESPACES,
  network: false,
  engine: "isolate",
} as const;
const DELIVERY = { kind: "tick", id: 1, atMs: 6, text: "x".repeat(100) } as const;
const SEAL = {
  close: (plain: string) => Buffer.from(plain),
  open: (sealed: Uint8Array) => Buffer.from(sealed).toString(),
};
const RESULT: ExecutionResult = {
  execution: EXECUTION,
  state: "completed",
  value: 1,
  logs: [{ level: "log", text: "a", atMs: 1 }],
  calls: [],
  findings: [],
  stats: { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 0, outputBytes: 0 },
  engine: "isolate",
  isolation: "process",
};

/** A store with one execution, and its journal. */
async function open(executionBytes = 1_000_000) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  let now = 10;
  const kept = { keepMs: 100, totalBytes: 1_000_000, executionBytes };
  const journals = openJournals({ store: store.journals, seal: SEAL, now: () => now, ...kept });
  await store.executions.open({
    id: EXECUTION,
    principal: AGENT.id,
    source: digestOf("1"),
    sourceText: "1",
    startedAt: 1,
  });
  const journal = journals.begin(EXECUTION);
  journal.note(ASKED);
  const end = () =>
    store.executions.close(EXECUTION, { endedAt: 10, state: "completed", result: JSON.stringify(RESULT) });
  return { rooms: { store, journals }, journal, end, wait: (until: number) => void (now = until) };
}

describe("findKept", () => {
  it("finds an execution with its deliveries and its result", async () => {
    const { rooms, journal, end } = await open();
    journal.note(BEGAN);
    journal.note({ kind: "given", delivery: DELIVERY });
    await journal.flush();
    const running = await findKept(EXECUTION, rooms);
    assert.deepEqual([running.result, running.recording.deliveries.length], [undefined, 1]);
    await end();
    const { execution, result, recording, isMasked } = await findKept(EXECUTION, rooms);
    assert.deepEqual([execution.id, result, isMasked], [EXECUTION, RESULT, false]);
    assert.deepEqual(recording.deliveries[0]?.delivery, DELIVERY);
  });
  it("rejects an unknown execution", async () => {
    const { store, journals } = (await open()).rooms;
    const none = { store: { executions: { find: async () => undefined } }, journals };
    await assert.rejects(findKept(EXECUTION, none), /The execution ex_[0-9]+ does not exist/);
    await store.close();
  });
  it("rejects an execution whose journal was dropped, and finds it before", async () => {
    const { rooms, journal, end, wait } = await open();
    journal.note(BEGAN);
    await journal.flush();
    await end();
    wait(110);
    assert.equal(await rooms.journals.drop(), 0);
    assert.ok(await findKept(EXECUTION, rooms));
    wait(111);
    assert.equal(await rooms.journals.drop(), 1);
    await assert.rejects(findKept(EXECUTION, rooms), { code: "REQUEST_NOT_FOUND", message: /is no longer kept$/ });
  });
  it("rejects an execution whose journal was too large", async () => {
    const { rooms, journal } = await open(10);
    journal.note(BEGAN);
    journal.note({ kind: "given", delivery: DELIVERY });
    await journal.flush();
    await assert.rejects(findKept(EXECUTION, rooms), { code: "REQUEST_NOT_FOUND", message: /was too large/ });
  });
  it("rejects an execution without a started program", async () => {
    const { rooms, journal } = await open();
    await journal.flush();
    await assert.rejects(findKept(EXECUTION, rooms), { code: "REQUEST_INVALID", message: /did not start a program/ });
  });
});

describe("findDifference", () => {
  const error = { code: "PROGRAM_THREW", message: "a", retry: false } as const;
  it("ignores times, incidents and handles", () => {
    const logs = [{ level: "log", text: "a", atMs: 99 }] as const;
    assert.equal(findDifference(RESULT, { ...RESULT, logs, stats: { ...RESULT.stats, wallMs: 9 } }), undefined);
    const failed = { ...RESULT, state: "failed", error: { ...error, incident: "in_1" } } as const;
    assert.equal(findDifference(failed, { ...failed, error: { ...error, incident: "in_2" } }), undefined);
  });
  it("names a difference in value, state, error, log or size", () => {
    const differ = (change: Partial<ExecutionResult>): string => findDifference(RESULT, { ...RESULT, ...change }) ?? "";
    assert.equal(differ({ value: "1" }), 'The value was 1 and is "1"');
    assert.equal(differ({ logs: [] }), 'Line 1 of the log was "log: a" and is absent');
    assert.equal(differ({ state: "failed", error }), 'The state was "completed" and is "failed"');
    const failed = { ...RESULT, state: "failed", error } as const;
    assert.match(
      findDifference(failed, { ...failed, error: { ...error, message: "b" } }) ?? "",
      /^The error was .*"a"/,
    );
    assert.equal(differ({ value: "x".repeat(300) })?.length, 'The value was 1 and is "'.length + 200);
  });
  it("compares a cancelled execution only as far as it got", () => {
    for (const code of ["REQUEST_CANCELLED", "LIMIT_TIME", "SANDBOX_CRASHED"] as const) {
      const first = { ...RESULT, state: "failed", error: { ...error, code } } as const;
      const more = { ...RESULT, logs: [...RESULT.logs, { level: "log", text: "b", atMs: 1 }] } as const;
      assert.equal(findDifference(first, more), undefined);
      assert.match(findDifference(first, { ...more, logs: [] }) ?? "", /^Line 1/);
    }
  });
});
