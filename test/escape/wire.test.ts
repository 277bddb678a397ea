/** A compromised child that sends any frames ends its own execution and nothing else. */

import assert from "node:assert/strict";
import { after, before, describe, mock, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { LATE_MS, openEscapeSandbox } from "./fixtures/escape-sandbox.ts";
import type { EscapeSandbox, Run } from "./fixtures/escape-sandbox.ts";
import { READINESS, createHostileEngine } from "./fixtures/hostile-engine.ts";
import { codeOf } from "./fixtures/check-run.ts";

const HOST_GROWTH_BYTES = 100 * 1024 * 1024;
/** Longer than the pool waits for the first frame of a child. */
const START_MS = 20_000;

/** What a child does, and the error code of its execution. */
const REFUSED: readonly (readonly [string, string])[] = [
  ["longest", "SANDBOX_CRASHED"],
  ["overCap", "SANDBOX_CRASHED"],
  ["tooShort", "SANDBOX_CRASHED"],
  ["truncated", "SANDBOX_CRASHED"],
  ["garbage", "SANDBOX_CRASHED"],
  ["zeroes", "SANDBOX_CRASHED"],
  ["unknownKind", "SANDBOX_CRASHED"],
  ["kindOfHost", "SANDBOX_CRASHED"],
  ["readyAgain", "SANDBOX_CRASHED"],
  ["brokenJson", "SANDBOX_CRASHED"],
  ["deepJson", "LIMIT_SIZE"],
  ["brokenThrew", "SANDBOX_CRASHED"],
  ["unknownOverrun", "SANDBOX_CRASHED"],
  ["callOutOfTurn", "SANDBOX_CRASHED"],
  ["callTwice", "SANDBOX_CRASHED"],
  ["callWithoutArguments", "SANDBOX_CRASHED"],
  ["manyTimers", "LIMIT_CALLS"],
  ["manyLogs", "LIMIT_SIZE"],
  ["longLogs", "LIMIT_SIZE"],
  ["exits", "SANDBOX_CRASHED"],
  ["aborts", "SANDBOX_CRASHED"],
  ["neverEnds", "LIMIT_TIME"],
];

/** Unusual but harmless behavior of a child, and the value of its execution. */
const TAKEN: readonly (readonly [string, unknown])[] = [
  ["honest", "honest"],
  ["calls", [2, 1, "[1]"]],
  ["doneTwice", 1],
  ["strangeTimer", 1],
  ["strangeLevel", 1],
  ["strangeUsage", 1],
  ["speaks", "real"],
  ["lateAnswers", 1],
];

describe("a hostile child", () => {
  const pids = new Set<number>();
  let sandbox: EscapeSandbox;
  let residentBefore = 0;
  before(async () => {
    sandbox = await openEscapeSandbox(createHostileEngine("ready"), pids);
    assert.equal(await sandbox.value("honest"), "honest");
    residentBefore = process.memoryUsage().rss;
  });
  after(() => sandbox[Symbol.asyncDispose]());

  for (const [mode, code] of REFUSED) {
    test(`a hostile child that does "${mode}" ends its own execution with ${code}, and the next child is healthy`, async () => {
      const run = await sandbox.run(mode, code === "LIMIT_TIME" ? { wallMs: 1_000 } : {});
      assert.equal(codeOf(run), code);
      assert.ok(run.tookMs < LATE_MS, `took ${run.tookMs} ms`);
      assert.equal(await sandbox.value("honest"), "honest");
    });
  }

  for (const [mode, value] of TAKEN) {
    test(`a hostile child that does "${mode}" returns ${JSON.stringify(value)}, and later frames are ignored`, async () => {
      const run = await sandbox.run(mode);
      assert.deepEqual(run.ending, { kind: "returned", value });
      await sleep(20);
      assert.deepEqual(run.calls, mode === "calls" ? ["tools.echo"] : []);
      assert.equal(await sandbox.value("honest"), "honest");
    });
  }

  test("usage numbers of a hostile child become finite and non-negative", async () => {
    const { usage } = await sandbox.run("strangeUsage");
    const claimed = [usage.cpuMs, usage.peakMemoryBytes, usage.outputBytes];
    assert.deepEqual(
      claimed.filter((count) => !Number.isFinite(count) || count < 0),
      [],
    );
  });

  test("a result that names __proto__ is data", async () => {
    const { ending } = await sandbox.run("prototypeJson");
    assert.ok(ending.kind === "returned" && Object.hasOwn(Object(ending.value), "__proto__"));
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  test("a malformed error report becomes one of the known shape", async () => {
    const { ending } = await sandbox.run("strangeThrew");
    assert.deepEqual(ending, { kind: "threw", thrown: { kind: "thrown", name: "", message: "", stack: "" } });
  });

  test("a long error report is truncated", async () => {
    const { ending } = await sandbox.run("longThrew");
    assert.ok(ending.kind === "threw" && ending.thrown.message.length === 8_192);
  });

  test("two parallel executions have separate children, and a broken one does not affect the other", async () => {
    const runs: readonly Run[] = await Promise.all([sandbox.run("neverEnds", { wallMs: 1_000 }), sandbox.run("calls")]);
    assert.deepEqual([runs.map(codeOf), runs[1]?.ending.kind], [["LIMIT_TIME", undefined], "returned"]);
  });

  test("hostile children neither make the host grow nor leave more children than workers", () => {
    const grown = process.memoryUsage().rss - residentBefore;
    assert.ok(grown < HOST_GROWTH_BYTES, `grew by ${grown} bytes`);
    assert.ok(pids.size <= 2);
  });
});

describe("a child that never becomes ready", () => {
  for (const manner of ["exit", "garbage"]) {
    test(`a child that is "${manner}" makes the sandbox unavailable, with a remedy`, async () => {
      await using sandbox = await openEscapeSandbox(createHostileEngine(manner));
      const { ending } = await sandbox.run("honest");
      assert.ok(ending.kind === "failed" && ending.error.code === "SANDBOX_UNAVAILABLE");
      assert.match(ending.error.details.hint ?? "", /glovebox doctor/);
    });
  }

  test('a child that is ready "twice" gets no execution while its memory limit is set', async () => {
    const engine = { ...createHostileEngine("twice"), readiness: READINESS };
    await using sandbox = await openEscapeSandbox(engine);
    const runs = await Promise.all([sandbox.run("honest"), sandbox.run("honest")]);
    assert.deepEqual(runs.map(codeOf), ["SANDBOX_UNAVAILABLE", "SANDBOX_UNAVAILABLE"]);
  });

  test('a child that is "ready" gets an execution after its memory limit was set', async () => {
    await using sandbox = await openEscapeSandbox({ ...createHostileEngine("ready"), readiness: READINESS });
    assert.equal(await sandbox.value("honest"), "honest");
  });

  test('a "silent" child is ended when its time to start is over', async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const pids = new Set<number>();
    const sandbox = await openEscapeSandbox(createHostileEngine("silent"), pids);
    try {
      const [first = 0] = pids;
      mock.timers.tick(START_MS - 1);
      assert.deepEqual([...pids], [first]);
      mock.timers.tick(1);
      await waitUntil(() => !pids.has(first));
      assert.ok(!pids.has(first));
    } finally {
      mock.timers.reset();
      await sandbox[Symbol.asyncDispose]();
    }
  });
});

/** Without timers, which are mocked here. */
async function waitUntil(holds: () => boolean): Promise<void> {
  const until = performance.now() + LATE_MS;
  while (!holds() && performance.now() < until) await new Promise((done) => setImmediate(done));
}
