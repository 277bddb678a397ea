/**
 * Removes one defense after the other from the real source and shows that its attack then succeeds. A defense whose
 * removal no test notices would be untested. The filter, the root and the rlimits have such tests in
 * `confinement.test.ts`.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { TIGHT, confineAt, openEscapeSandbox } from "./fixtures/escape-sandbox.ts";
import type { Run } from "./fixtures/escape-sandbox.ts";
import { READINESS, createHostileEngine } from "./fixtures/hostile-engine.ts";
import { codeOf, findFloods, findPaths, describeEnding } from "./fixtures/check-run.ts";
import { buildPatchedEngine, buildPatchedSandbox, buildPatchedWorkerdEngine } from "./fixtures/patched-sandbox.ts";
import type { Patch } from "./fixtures/patched-sandbox.ts";

const MEGABYTE = 1024 * 1024;

interface Mutant {
  readonly defense: string;
  readonly patch: Patch;
  /** What a compromised child does, or a program. */
  readonly attack: string;
  /** Whether the attack failed. */
  readonly isHeld: (run: Run) => boolean;
}

/** For programs that may take long on a busy machine, and whose test is not about time. */
const PATIENT = { wallMs: 30_000, cpuMs: 30_000 };

/** The host side, with a compromised child. */
const HOST_MUTANTS: readonly Mutant[] = [
  {
    defense: "the numbering of calls",
    patch: { file: "program/program-requests.ts", from: "if (id !== this.#calls)", to: "if (id < 0)" },
    attack: "callOutOfTurn",
    isHeld: ({ calls }) => calls.length === 0,
  },
  {
    defense: "the size limit of a frame",
    patch: { file: "frames.ts", from: "length > maxBytes", to: "length > Infinity" },
    attack: "overCap",
    isHeld: (run) => codeOf(run) === "SANDBOX_CRASHED",
  },
  {
    defense: "the host's own count of output",
    patch: {
      file: "program/program-output.ts",
      from: "this.bytes += Buffer.byteLength(text);",
      to: "this.bytes += 0;",
    },
    attack: "longLogs",
    isHeld: (run) => findFloods(run).length === 0,
  },
  {
    defense: "the limit on console lines",
    patch: { file: "program/program-output.ts", from: "this.logs.length >= MOST_LINES", to: "this.logs.length < 0" },
    attack: "manyLogs",
    isHeld: ({ logs }) => logs.length <= 10_000,
  },
  {
    defense: "the limit on timers",
    patch: { file: "program/program-watch.ts", from: "timers.size >= MOST_TIMERS", to: "timers.size < 0" },
    attack: "manyTimers",
    isHeld: (run) => codeOf(run) === "LIMIT_CALLS",
  },
  {
    defense: "the refusal of unknown frames",
    patch: {
      file: "program/running-program.ts",
      from: 'throw new GloveboxError("SANDBOX_CRASHED", `The sandbox process sent a frame',
      to: "void (`",
    },
    attack: "readyAgain",
    isHeld: (run) => codeOf(run) === "SANDBOX_CRASHED",
  },
  {
    defense: "the depth limit of a result",
    patch: {
      file: "program/parse-reports.ts",
      from: "findExcess(value, limits.depth)",
      to: "findExcess(value, 1e9)",
    },
    attack: "deepJson",
    isHeld: (run) => codeOf(run) === "LIMIT_SIZE",
  },
];

describe("a defense of the host", () => {
  for (const { defense, patch, attack, isHeld } of HOST_MUTANTS) {
    test(`${defense} stops "${attack}", and nothing else does`, async () => {
      await using whole = await openEscapeSandbox(createHostileEngine("ready"));
      assert.ok(isHeld(await whole.run(attack)));
      await using broken = await openEscapeSandbox(
        createHostileEngine("ready"),
        undefined,
        await buildPatchedSandbox(patch),
      );
      assert.equal(await broken.value("honest"), "honest");
      assert.ok(!isHeld(await broken.run(attack, { wallMs: 1_000 })));
    });
  }

  test("only the kill at the wall limit ends a child that never ends", async () => {
    const from = '"wall", limits)), this.#restMs';
    const open = await buildPatchedSandbox({
      file: "program/program-watch.ts",
      from,
      to: '"wall", limits)), 1e8',
    });
    const broken = await openEscapeSandbox(createHostileEngine("ready"), undefined, open);
    assert.equal(await broken.value("honest"), "honest");
    const run = broken.run("neverEnds", { wallMs: 200 });
    const late = await Promise.race([run, sleep(1_000, "late")]);
    await broken[Symbol.asyncDispose]();
    assert.equal(late, "late");
  });

  test("at level process, only the memory watch sees memory that no isolate counts", async () => {
    const from = "usedBytes > limits.memoryBytes + MEMORY_MARGIN_BYTES";
    const open = await buildPatchedSandbox({ file: "program/program-watch.ts", from, to: "usedBytes < 0" });
    const hold = `const held = []; for (let i = 0; i < 10; i += 1) {
      const buffer = new ArrayBuffer(8, { maxByteLength: 2e7 }); buffer.resize(2e7); new Uint8Array(buffer).fill(1); held.push(buffer); }
      await new Promise((done) => setTimeout(done, 100)); return "held";`;
    await using whole = await openEscapeSandbox("process");
    assert.equal(codeOf(await whole.run(hold, PATIENT)), "LIMIT_MEMORY");
    await using broken = await openEscapeSandbox("process", undefined, open);
    const run = await broken.run(hold, PATIENT);
    assert.deepEqual(run.ending, { kind: "returned", value: "held" });
    assert.ok(run.usage.peakMemoryBytes > TIGHT.memoryBytes + 64 * MEGABYTE);
  });

  test("a child that reports ready twice is ended, and nothing else keeps it from two executions", async () => {
    const from = "child.listener = { ...child.listener, frame: () => worker.end() };";
    const open = await buildPatchedSandbox({ file: "pool/child-starts.ts", from, to: "" });
    // The two executions of one child disturb each other, so that sometimes neither returns.
    let hasReturned = false;
    for (let attempt = 0; attempt < 10 && !hasReturned; attempt += 1) {
      await using broken = await openEscapeSandbox(
        { ...createHostileEngine("twice"), readiness: READINESS },
        undefined,
        open,
      );
      const runs = await Promise.all([broken.run("honest"), broken.run("honest")]);
      hasReturned = runs.some(({ ending }) => ending.kind === "returned");
    }
    assert.ok(hasReturned);
  });

  test("the output limit is what refuses a large result", async () => {
    await using sandbox = await openEscapeSandbox("process");
    const flood = 'return "x".repeat(2e6)';
    assert.equal(codeOf(await sandbox.run(flood)), "LIMIT_SIZE");
    assert.equal(findFloods(await sandbox.run(flood, { outputBytes: 4 * MEGABYTE })).length, 1);
  });
});

const OVERFLOW = `let text = ""; const deep = () => { try { console.log("x"); deep(); } catch (error) { text ||= String(error.stack); throw error; } };
  try { deep(); } catch {} return text;`;

/** The child's side, with real programs. */
const CHILD_MUTANTS: readonly Mutant[] = [
  {
    defense: "the lock on code from strings",
    patch: { file: "guest.generated.ts", from: "lockDown(),", to: "" },
    attack: 'try { return (() => {}).constructor("return 42")(); } catch (error) { return error.name; }',
    isHeld: (run) => describeEnding(run) === '"EvalError"',
  },
  {
    defense: "the guest's own clock",
    patch: { file: "guest.generated.ts", from: "installClock(),", to: "" },
    attack:
      "const before = Date.now(); while (Date.now() === before) { if ((globalThis.n = (globalThis.n ?? 0) + 1) > 1e7) return true; } return false;",
    isHeld: (run) => describeEnding(run) === "true",
  },
  {
    defense: "the hiding of the child's own frames",
    patch: { file: "engines/serve-child.ts", from: "Error.stackTraceLimit = 0", to: "Error.stackTraceLimit = 10" },
    attack: OVERFLOW,
    isHeld: (run) => findPaths(run).length === 0,
  },
  {
    defense: "the truncation of stacks at the engine's boundary",
    patch: {
      file: "engines/isolate/isolate-realm.ts",
      from: 'cutStack(thrown.stack ?? "")',
      to: "String(thrown.stack)",
    },
    attack: 'Error.prepareStackTrace = () => { throw new Error("mine"); }; await tools.fail("x");',
    isHeld: (run) => findPaths(run).length === 0,
  },
];

describe("a defense of the child", () => {
  for (const { defense, patch, attack, isHeld } of CHILD_MUTANTS) {
    test(`${defense} stops its attack, and nothing else does`, async () => {
      await using whole = await openEscapeSandbox("process");
      assert.ok(isHeld(await whole.run(attack, PATIENT)));
      await using broken = await openEscapeSandbox(await buildPatchedEngine(patch));
      assert.equal(await broken.value("return 2"), 2);
      assert.ok(!isHeld(await broken.run(attack, PATIENT)));
    });
  }
});

const WITHOUT_WITHHOLDING: Patch = {
  file: "engines/workerd/withhold-imports.ts",
  from: "if (!module.includes(KEYWORD)) return module;",
  to: "if (module.length > 0) return module;",
};

/** The same for workerd: what keeps a Worker's own powers from a program. */
const WORKER_MUTANTS: readonly Mutant[] = [
  {
    defense: "the list of kept globals",
    patch: { file: "guest.generated.ts", from: "stripGlobals();", to: "" },
    attack: 'return ["WebSocket", "Request", "caches", "scheduler"].filter((name) => name in globalThis).length;',
    isHeld: (run) => describeEnding(run) === "0",
  },
  {
    defense: "the withholding of imports",
    patch: WITHOUT_WITHHOLDING,
    attack: 'return import("cloudflare:workers").then((module) => typeof module.waitUntil, () => "refused");',
    isHeld: (run) => describeEnding(run) === '"refused"',
  },
];

describe("a defense of a Worker", () => {
  for (const { defense, patch, attack, isHeld } of WORKER_MUTANTS) {
    test(`${defense} stops its attack in workerd, and nothing else does`, async () => {
      await using whole = await openEscapeSandbox(await confineAt("workerd", "process"));
      assert.ok(isHeld(await whole.run(attack, PATIENT)));
      await using broken = await openEscapeSandbox(await buildPatchedWorkerdEngine(patch));
      assert.equal(await broken.value("return 2"), 2);
      assert.ok(!isHeld(await broken.run(attack, PATIENT)));
    });
  }

  test("the guest's own module answers once, even if it can be imported", async () => {
    await using broken = await openEscapeSandbox(await buildPatchedWorkerdEngine(WITHOUT_WITHHOLDING));
    const open = 'import("guest.js").then(({ guestWorker }) => typeof guestWorker.open().deliver)';
    assert.equal(await broken.value(`return ${open}.catch(({ message }) => message);`), "This worker has its program");
  });
});
