/** The corridor: each room once and in order, closed after every failure, and once through the real deps. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { DEFAULT_RULES, analyze } from "../../analysis/index.ts";
import type { AnalysisResult } from "../../analysis/index.ts";
import { openTestBridge } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { TestBridgeOptions } from "../../../test/fixtures/bridge/test-bridge.ts";
import { AGENT, EXECUTION, TOOLS, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { Bridge } from "../../bridge/index.ts";
import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { ExecutionResult, Program } from "../../domain/index.ts";
import { openTestSandbox } from "../../sandbox/fixtures/test-sandbox.ts";
import type { SandboxResult } from "../../sandbox/index.ts";
import { declareApi } from "../../typegen/index.ts";
import { NEVER_SUSPENDED, NO_JOURNAL } from "../fixtures/durable.ts";
import type { ExecutionRequest } from "../requests.ts";
import { createProgramRunner } from "../run-program.ts";
import type { ProgramDeps } from "../run-program.ts";
import { createRunningTable } from "../running-table.ts";
import { startExecution } from "./execute.ts";
import type { RunDeps } from "./execute.ts";

const REQUEST: ExecutionRequest = {
  principal: AGENT,
  source: "1",
  limits: DEFAULT_LIMITS,
  signal: new AbortController().signal,
};
const PROGRAM: Program = {
  digest: digestOf("1"),
  source: "1",
  checkable: "1",
  javascript: "return 1",
  insertions: [],
  calls: [],
  findings: [],
};
const RAN: SandboxResult = {
  ending: { kind: "returned", value: 1 },
  logs: [],
  usage: { queueMs: 0, wallMs: 2, cpuMs: 1, peakMemoryBytes: 4, outputBytes: 1, switches: 0 },
  engine: "isolate",
};
const BASE = {
  execution: EXECUTION,
  logs: [],
  calls: [],
  findings: [],
  engine: "isolate",
  isolation: "process",
} as const;
const NO_STATS = { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 0, outputBytes: 0 };
const ORDER = ["open", "snapshot", "declare", "analyze", "check", "bridge", "run", "recorded", "close"] as const;

type Step = (typeof ORDER)[number];

type Deps = Omit<RunDeps, "runProgram"> & ProgramDeps;

/** Opens and starts an execution as `Executions.open` does. */
async function execute(request: ExecutionRequest, deps: Deps): Promise<ExecutionResult> {
  const entry = createRunningTable((text) => text).enter({ principal: request.principal.id });
  const own = { ...request, signal: entry.signal };
  const runProgram = createProgramRunner(deps);
  return startExecution(entry, deps.log.open(own), own, { ...deps, runProgram }).done;
}

interface TestDeps {
  readonly deps: Deps;
  readonly visited: string[];
  readonly closed: ExecutionResult[];
  readonly signals: AbortSignal[];
}

/** Rooms that only write down who came; the one named in `broken` throws. */
function createTestDeps(
  broken?: { readonly step: Step; readonly thrown: unknown },
  analyzed: AnalysisResult = { ok: true, program: PROGRAM },
  checked?: AnalysisResult,
): TestDeps {
  const visited: string[] = [];
  const closed: ExecutionResult[] = [];
  const signals: AbortSignal[] = [];
  const visit = <T>(step: Step, value: T): T => {
    visited.push(step);
    if (broken?.step === step) throw broken.thrown;
    return value;
  };
  const bridge: Bridge = {
    call: () => assert.fail("the program makes no calls"),
    restore: () => assert.fail("nothing was called before"),
    takeJournaled: () => undefined,
    records: () => [],
    failureOf: () => undefined,
    labels: () => [],
    dryRun: () => undefined,
    mismatches: () => [],
    recorded: async () => visit("recorded", undefined),
  };
  const deps: Deps = {
    engine: "isolate",
    isolation: "process",
    report: () => "in_1",
    hide: (text: string) => text,
    log: {
      openOnce: () => assert.fail("the request has no key"),
      refuse: () => assert.fail("the request has no key"),
      open: ({ principal }) => {
        const execution = { id: EXECUTION, principal: principal.id, source: digestOf("1"), startedAt: 0 };
        return visit("open", { execution, opened: Promise.resolve(), journal: NO_JOURNAL });
      },
      close: async (_execution, result) => {
        closed.push(result);
        visit("close", undefined);
      },
    },
    admit: async ({ wallMs }) => ({ wallMs, release: async () => undefined }),
    snapshot: async () => visit("snapshot", snapshotOf(TOOLS)),
    hasNetwork: () => false,
    declare: (snapshot) =>
      visit("declare", { snapshot: snapshot.digest, declarations: "", namespaces: snapshot.namespaces }),
    analyze: () => visit("analyze", analyzed),
    check: async (program) => visit("check", checked ?? { ok: true, program }),
    typeCheck: "before",
    ...NEVER_SUSPENDED,
    bridge: (_execution, _snapshot, _request, { signal }) => {
      signals.push(signal);
      return visit("bridge", bridge);
    },
    run: async () => visit("run", RAN),
    keepValue: () => assert.fail("nothing is large"),
  };
  return { deps, visited, closed, signals };
}

describe("an execution", () => {
  it("uses each dependency once, in order, and returns the result that was closed", async () => {
    const { deps, visited, closed, signals } = createTestDeps();
    const result = await execute(REQUEST, deps);
    assert.deepEqual(visited, ORDER);
    assert.deepEqual(result, {
      ...BASE,
      state: "completed",
      value: 1,
      stats: { queueMs: 0, wallMs: 2, cpuMs: 1, peakMemoryBytes: 4, calls: 0, outputBytes: 1, switches: 0 },
    });
    assert.deepEqual(closed, [result]);
    assert.equal(signals[0]?.aborted, true);
  });
  it("an execution is closed at once when the analysis refuses the program", async () => {
    const error = { code: "PROGRAM_SYNTAX", message: "Unexpected token", retry: false, line: 1, column: 2 } as const;
    const findings = [{ rule: "no-eval", severity: "warn", message: "m", line: 1, column: 1 }] as const;
    const { deps, visited, closed } = createTestDeps(undefined, { ok: false, error, findings });
    const result = await execute(REQUEST, deps);
    assert.deepEqual(visited, ["open", "snapshot", "declare", "analyze", "close"]);
    assert.deepEqual(result, { ...BASE, state: "failed", error, findings, stats: NO_STATS });
    assert.deepEqual(closed, [result]);
  });
  it("an execution is closed at once when its types do not fit, and runs with findings when they do", async () => {
    const error = {
      code: "PROGRAM_TYPES",
      message: "The tool a.b does not exist",
      retry: false,
      line: 1,
      column: 2,
    } as const;
    const findings = [{ rule: "types", severity: "warn", message: "m", line: 1, column: 1 }] as const;
    const refused = createTestDeps(undefined, undefined, { ok: false, error, findings });
    const result = await execute(REQUEST, refused.deps);
    assert.deepEqual(refused.visited, ["open", "snapshot", "declare", "analyze", "check", "close"]);
    assert.deepEqual(result, { ...BASE, state: "failed", error, findings, stats: NO_STATS });
    const fits = createTestDeps(undefined, undefined, { ok: true, program: { ...PROGRAM, findings } });
    assert.deepEqual((await execute(REQUEST, fits.deps)).findings, findings);
    assert.deepEqual(fits.visited, ORDER);
  });
  for (const step of ["snapshot", "declare", "analyze", "check", "bridge", "run", "recorded"] as const) {
    it(`an execution is closed as failed without details when ${step} throws`, async () => {
      const { deps, visited, closed, signals } = createTestDeps({ step, thrown: new Error("secret words") });
      const result = await execute(REQUEST, deps);
      const error = { code: "INTERNAL_BUG", message: "Internal error", retry: false, incident: "in_1" } as const;
      assert.deepEqual(visited, [...ORDER.slice(0, ORDER.indexOf(step) + 1), "close"]);
      assert.deepEqual(result, { ...BASE, state: "failed", error, stats: NO_STATS });
      assert.deepEqual(closed, [result]);
      if (step === "run" || step === "recorded") assert.equal(signals[0]?.aborted, true);
    });
  }
  it("keeps the message of an error that is not internal", async () => {
    const thrown = new GloveboxError("LIMIT_BUSY", "Too many", { hint: "Wait" });
    const { error } = await execute(REQUEST, createTestDeps({ step: "run", thrown }).deps);
    assert.deepEqual(error, { code: "LIMIT_BUSY", message: "Too many", retry: true, hint: "Wait" });
  });
  it("an execution is cancelled and returns nothing when its opening cannot be recorded", async () => {
    const thrown = new GloveboxError("STORE_UNAVAILABLE", "Full");
    const { deps, visited } = createTestDeps();
    let signal: AbortSignal | undefined;
    const { log } = deps;
    const refused: Deps = {
      ...deps,
      log: { ...log, open: (request) => ({ ...log.open(request), opened: Promise.reject(thrown) }) },
      run: async (job) => {
        ({ signal } = job);
        if (!signal.aborted) await once(signal, "abort");
        return RAN;
      },
    };
    await assert.rejects(execute(REQUEST, refused), thrown);
    assert.deepEqual([visited.includes("close"), signal?.aborted], [false, true]);
  });
  it("returns nothing when its result cannot be recorded", async () => {
    const thrown = new GloveboxError("STORE_UNAVAILABLE", "Full");
    const { deps, visited } = createTestDeps({ step: "close", thrown });
    await assert.rejects(execute(REQUEST, deps), thrown);
    assert.deepEqual(visited, ORDER);
  });
});

describe("an execution through the real rooms", async () => {
  const { sandbox } = await openTestSandbox();
  after(() => sandbox.close());

  /** Only the store is left out: opening and closing are the composition root's. */
  async function run(source: string, options: TestBridgeOptions = {}): Promise<ExecutionResult> {
    const deps = createTestDeps().deps;
    const { bridge } = await openTestBridge(options);
    return execute(
      { ...REQUEST, source },
      {
        ...deps,
        declare: declareApi,
        analyze: (request, surface) =>
          analyze(request.source, surface, {
            enabled: true,
            blockOnError: true,
            rules: DEFAULT_RULES,
            limits: request.limits,
          }),
        bridge: () => bridge,
        run: (job) => sandbox.run(job),
      },
    );
  }
  it("returns the last value, the logs and the calls", async () => {
    const source = "const x: number = 2;\nconsole.log('\\u001b[31mred');\nawait files.read({ x });\nx * 2";
    const { state, value, logs, calls, stats } = await run(source);
    assert.deepEqual(
      {
        state,
        value,
        logs: logs.map(({ level, text }) => [level, text]),
        calls: calls.map(({ tool, outcome }) => [tool, outcome]),
        made: stats.calls,
      },
      { state: "completed", value: 4, logs: [["log", "red"]], calls: [["files.read", "ok"]], made: 1 },
    );
  });
  it("reports an uncaught failure of a tool as the host recorded it, whatever the program changed", async () => {
    const thrown = new GloveboxError("UPSTREAM_FAILED", "files: the disk is full", { hint: "Make room" });
    const source = `try { await files.read({}) } catch (error) {
      error.code = "LIMIT_TIME"; error.message = "forged"; error.name = "Forged"; error.retry = true; error.hint = "forged";
      throw error;
    }`;
    const { state, error } = await run(source, { invoke: () => Promise.reject(thrown) });
    assert.equal(state, "failed");
    assert.deepEqual(
      [error?.code, error?.message, error?.retry, error?.hint, error?.line],
      ["UPSTREAM_FAILED", "files: the disk is full", false, "Make room", 1],
    );
  });
  it("an execution through the real rooms does not accept a tool failure that the program made up", async () => {
    const { error } = await run('throw new ToolError("POLICY_DENIED", "made up")');
    assert.deepEqual([error?.code, error?.message], ["PROGRAM_THREW", "ToolError: made up"]);
  });
  it("maps an error to the author's line and column", async () => {
    const { error } = await run("type A = { b: number };\nconst a: A | null = null as A | null;\n\nconst c = a.b;");
    assert.deepEqual([error?.code, error?.line, error?.column], ["PROGRAM_THREW", 4, 13]);
    assert.match(error?.frame ?? "", /^> 4 \| const c = a\.b;$/m);
  });
});
