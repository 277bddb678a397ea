/**
 * Runs every program of the corpus in a real sandbox, each with proof that it ran and a harmless twin that completes.
 */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Limits } from "../../src/domain/index.ts";
import { ENGINES } from "../../src/sandbox/fixtures/engines.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import type { Canaries } from "./fixtures/canaries.ts";
import { ORACLES, parseBadSources, parseCorpus, toProgram } from "./fixtures/corpus.ts";
import type { Oracle } from "./fixtures/corpus.ts";
import { DIFFERENCES, checkDifference } from "./fixtures/engine-differences.ts";
import {
  LATE_MS,
  LEVELS,
  LONGER,
  MARKER,
  SHORT,
  TIGHT,
  confineAt,
  openEscapeSandbox,
} from "./fixtures/escape-sandbox.ts";
import type { EscapeSandbox, Run } from "./fixtures/escape-sandbox.ts";
import { assertEnding, codeOf, findFloods, findLeaks, findPaths, describeEnding } from "./fixtures/check-run.ts";
import { watchMemory } from "./fixtures/memory-watch.ts";
import type { MemoryWatch } from "./fixtures/memory-watch.ts";

const MEGABYTE = 1024 * 1024;
/**
 * The memory that the kernel's limit allows in addition to the program's own data, and what the engine's start needs
 * temporarily.
 */
const OVER_CAP_BYTES = 80 * MEGABYTE;
const HOST_GROWTH_BYTES = 200 * MEGABYTE;
/** The timer of the late case is due by then. */
const LATE_TIMER_MS = 1_400;

const { prelude, cases } = parseCorpus();
/** Limits of the oracles whose attacks may end by their time. */
const LIMITS: Readonly<Partial<Record<Oracle, Partial<Limits>>>> = { hang: SHORT, crash: LONGER, mem: LONGER };
const QUIET: readonly Oracle[] = ["leak", "ambient", "path", "pollute", "late", "state"];

/** A program of the same shape as the attacks of each oracle, and proof that its oracle would report it. */
const CONTROLS: Readonly<Record<Oracle, { readonly code: string; readonly holds: (run: Run) => boolean }>> = {
  leak: { code: "return tryF(()=>()=>'HC-control')", holds: (run) => findLeaks(run, []).length === 1 },
  ambient: {
    code: 'return [typeof JSON].filter(x=>x!=="undefined").length?"HC-ambient":""',
    holds: (run) => findLeaks(run, []).length === 1,
  },
  path: { code: 'return "at file:///x/y.js"', holds: (run) => findPaths(run).length > 0 },
  pollute: {
    code: 'Object.prototype.polluted="yes";return ({}).polluted',
    holds: (run) => describeEnding(run) === '"yes"',
  },
  crash: { code: 'throw new Error("plain")', holds: ({ ending }) => ending.kind === "threw" },
  hang: { code: "let n=0;while(n<1e6)n+=1;return n", holds: (run) => describeEnding(run) === "1000000" },
  mem: { code: "return new Array(1e5).fill(1.1).length", holds: (run) => describeEnding(run) === "100000" },
  flood: { code: 'console.log("x".repeat(1e5));return 1', holds: (run) => run.logs[1]?.text.length === 1e5 },
  late: {
    code: 'await new Promise(done=>setTimeout(done,5));return tools.echo("LATE")',
    holds: ({ calls }) => calls.join() === "tools.echo",
  },
  state: {
    code: 'globalThis.__persist="P";return globalThis.__persist',
    holds: (run) => describeEnding(run) === '"P"',
  },
};

const PLACES = ENGINES.flatMap((engine) => LEVELS.map((level) => [engine, level] as const));
const [BEST] = LEVELS;

for (const [engine, level] of PLACES) {
  describe(`the corpus on ${engine} at level ${level}`, () => {
    const pids = new Set<number>();
    const residentBefore = process.memoryUsage().rss;
    let sandbox: EscapeSandbox;
    let canaries: Canaries;
    let memory: MemoryWatch;
    let restBytes = 0;
    before(async () => {
      canaries = await plantCanaries();
      sandbox = await openEscapeSandbox(await confineAt(engine, level), pids);
      memory = watchMemory(pids);
      await sandbox.value("await new Promise(done => setTimeout(done, 50))");
      restBytes = memory.takePeakBytes();
    });
    after(async () => {
      memory[Symbol.dispose]();
      await sandbox[Symbol.asyncDispose]();
      await canaries[Symbol.asyncDispose]();
    });
    const run = (code: string, limits: Partial<Limits> = {}): Promise<Run> =>
      sandbox.run(toProgram(prelude, code, canaries), limits);

    test(`the sandbox of the corpus runs on ${engine} at level ${level}`, () =>
      assert.deepEqual([sandbox.sandbox.engine, sandbox.sandbox.isolation], [engine, level]));

    for (const oracle of ORACLES) {
      test(`the oracle "${oracle}" detects its control program on ${engine} at level ${level}`, async () => {
        assert.ok(CONTROLS[oracle].holds(await run(CONTROLS[oracle].code)));
      });
    }

    // Without confinement, the limits are the same code; only what a program can see may differ.
    for (const attack of cases.filter(({ oracle }) => level === BEST || QUIET.includes(oracle))) {
      test(`${attack.id} (${attack.oracle}) gets nothing on ${engine} at level ${level}: ${attack.technique}`, async (context) => {
        memory.takePeakBytes();
        const ran = await run(attack.code, LIMITS[attack.oracle]);
        assert.equal(ran.logs[0]?.text ?? codeOf(ran), MARKER);
        const addedBytes = Math.max(0, memory.takePeakBytes() - restBytes);
        const difference = DIFFERENCES[engine][attack.id];
        if (difference) {
          await checkDifference(difference, sandbox, context);
          assertEnding(ran, difference.expect);
        } else await JUDGES[attack.oracle](ran, { context, addedBytes, again: () => run(attack.code) });
        assert.deepEqual(findLeaks(ran, canaries.values), []);
        assert.deepEqual(findPaths(ran), []);
        assert.equal(await sandbox.value("return (await tools.echo({ a: [1] })).a[0] + 1"), 2);
      });
    }

    for (const { id, technique, code } of level === BEST ? parseBadSources() : []) {
      test(`${id} gets nothing without analysis on ${engine} at level ${level}: ${technique}`, async () => {
        const ran = await run(`const read = () => "";\n${code}`, SHORT);
        assert.deepEqual([...findLeaks(ran, canaries.values), ...findPaths(ran), ...findFloods(ran)], []);
        assert.ok(ran.tookMs < LATE_MS, `took ${ran.tookMs} ms`);
        assert.equal(await sandbox.value("return 2"), 2);
      });
    }

    test(`after the corpus on ${engine} at level ${level}, the canary server had no connection and the host has not grown`, () => {
      assert.equal(canaries.visits(), 0);
      assert.ok(process.memoryUsage().rss - residentBefore < HOST_GROWTH_BYTES);
    });
  });
}

interface Evidence {
  readonly context: TestContext;
  /** The most memory that any process of the sandbox used in addition to an idle one. */
  readonly addedBytes: number;
  readonly again: () => Promise<Run>;
}

/** Leaks and paths are checked in every case; this is what each oracle checks in addition. */
const JUDGES: Readonly<Record<Oracle, (run: Run, evidence: Evidence) => void | Promise<void>>> = {
  leak: (run) => assert.ok(["returned", "threw"].includes(run.ending.kind)),
  ambient: (run) => assert.deepEqual(run.ending, { kind: "returned", value: "" }),
  path: (run) => assert.match(describeEnding(run), /program\.ts:/),
  pollute: () => {
    assert.equal(Reflect.get(Object.prototype, "polluted"), undefined);
    assert.equal(Reflect.get(Array.prototype, "polluted"), undefined);
  },
  crash: (run) =>
    assert.ok(["returned", "threw", "LIMIT_MEMORY", "LIMIT_TIME"].includes(codeOf(run) ?? run.ending.kind)),
  hang: (run, { context }) => {
    if (codeOf(run) === "LIMIT_TIME") context.diagnostic(`ended after ${Math.round(run.tookMs)} ms`);
    assert.ok(run.tookMs < LATE_MS, `took ${run.tookMs} ms`);
  },
  mem: (run, { context, addedBytes }) => {
    context.diagnostic(`${Math.round((addedBytes - TIGHT.memoryBytes) / MEGABYTE)} MB over the cap`);
    assert.ok(["LIMIT_MEMORY", "LIMIT_TIME", "returned", "threw"].includes(codeOf(run) ?? run.ending.kind));
    assert.ok(addedBytes < TIGHT.memoryBytes + OVER_CAP_BYTES, `held ${addedBytes} bytes`);
  },
  flood: (run) => {
    assert.deepEqual(findFloods(run), []);
    assert.deepEqual(run.calls, []);
  },
  late: async (run) => {
    await sleep(LATE_TIMER_MS);
    assert.deepEqual({ ending: run.ending, calls: run.calls }, { ending: { kind: "returned", value: 1 }, calls: [] });
  },
  state: async (run, { again }) => {
    const clean = { kind: "returned", value: "" };
    assert.deepEqual([run.ending, (await again()).ending], [clean, clean]);
  },
};
