/** Programs that run while their types are checked: what they may do until the verdict, and what is given out of them. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { EXECUTION, AGENT, TOOLS, openTestBridge, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { TestBridgeOptions } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_RULES, analyze } from "../../analysis/index.ts";
import type { AnalysisResult } from "../../analysis/index.ts";
import { DEFAULT_LIMITS } from "../../domain/index.ts";
import type { ExecutionEvent, ExecutionResult, Finding, Limits } from "../../domain/index.ts";
import { openTestSandbox } from "../../sandbox/fixtures/test-sandbox.ts";
import { digestOf } from "../../text/index.ts";
import { declareApi } from "../../typegen/index.ts";
import { NEVER_SUSPENDED, NO_JOURNAL } from "../fixtures/durable.ts";
import type { BridgeHooks } from "../deps.ts";
import type { JournalEvent } from "../journal.ts";
import { createProgramRunner } from "../run-program.ts";
import type { ProgramDeps } from "../run-program.ts";
import { createRunningTable } from "../running-table.ts";
import { startExecution } from "./execute.ts";
import type { RunDeps } from "./execute.ts";

const ERROR = {
  code: "PROGRAM_TYPES",
  message: "The API has no tool files.raed",
  retry: false,
  hint: "Did you mean files.read?",
  line: 1,
  column: 2,
  frame: "> 1 | x",
} as const;
const FINDING: Finding = { rule: "types", severity: "error", message: "m", line: 1, column: 1 };

/** The verdict of the test: given when a test decides, and about any program. */
type Verdict = "fits" | "wrong" | "broken";

const { sandbox } = await openTestSandbox();
after(() => sandbox.close());

interface StartOptions extends Pick<RunDeps, "typeCheck"> {
  readonly limits?: Partial<Limits>;
  readonly invoke?: TestBridgeOptions["invoke"];
}

/** Starts a program through the real rooms, with a check that waits for the test. */
async function start(source: string, { typeCheck, limits, invoke }: StartOptions = { typeCheck: "beside" }) {
  const verdict = Promise.withResolvers<Verdict>();
  const hooks = Promise.withResolvers<BridgeHooks>();
  let given: BridgeHooks | undefined;
  const invoked: string[] = [];
  const opened = await openTestBridge({
    whenChecked: () => given?.whenChecked?.(),
    invoke: async (tool, args, signal) => {
      invoked.push(tool.address);
      return invoke ? invoke(tool, args, signal) : "private words";
    },
  });
  void hooks.promise.then(({ signal }) => signal.addEventListener("abort", () => opened.ended.abort(signal.reason)));
  const noted: JournalEvent[] = [];
  const closed: ExecutionResult[] = [];
  const deps: Omit<RunDeps, "runProgram"> & ProgramDeps = {
    engine: "isolate",
    isolation: "process",
    report: () => "in_1",
    hide: (text) => text,
    log: {
      openOnce: () => assert.fail("the request has no key"),
      refuse: () => assert.fail("the request has no key"),
      open: () => {
        const execution = { id: EXECUTION, principal: AGENT.id, source: digestOf("1"), startedAt: 0 };
        const journal = { ...NO_JOURNAL, note: (event: JournalEvent) => void noted.push(event) };
        return { execution, opened: Promise.resolve(), durable: async () => undefined, journal };
      },
      close: async (_execution, result) => void closed.push(result),
    },
    admit: async ({ wallMs }) => ({ wallMs, release: async () => undefined }),
    snapshot: async () => snapshotOf(TOOLS),
    hasNetwork: () => false,
    declare: declareApi,
    analyze: (request, surface) =>
      analyze(request.source, surface, {
        enabled: true,
        blockOnError: true,
        rules: DEFAULT_RULES,
        limits: request.limits,
      }),
    check: async (program): Promise<AnalysisResult> => {
      const said = await verdict.promise;
      if (said === "broken") throw new Error("secret words");
      if (said === "fits") return { ok: true, program: { ...program, findings: [FINDING] } };
      return { ok: false, error: ERROR, findings: [FINDING] };
    },
    typeCheck,
    ...NEVER_SUSPENDED,
    bridge: (_opening, _snapshot, _request, run) => {
      given = run;
      hooks.resolve(run);
      return opened.bridge;
    },
    run: (job) => sandbox.run(job),
    keepValue: () => assert.fail("nothing is large"),
  };
  const events: ExecutionEvent[] = [];
  const entry = createRunningTable((text) => text).enter({
    principal: AGENT.id,
    onEvent: (event) => void events.push(event),
  });
  const request = {
    principal: AGENT,
    source,
    limits: { ...DEFAULT_LIMITS, ...limits },
    signal: entry.signal,
    onEvent: entry.onEvent,
  };
  const runProgram = createProgramRunner(deps);
  const { done } = startExecution(entry, deps.log.open(request), request, { ...deps, runProgram });
  return { done, say: verdict.resolve, events, invoked, noted, cancel: entry.cancel };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5);
}

/** True if the execution has not ended a while after everything it could do was done. */
async function isOpen(done: Promise<unknown>): Promise<boolean> {
  return Promise.race([done.then(() => false), sleep(100, true)]);
}

const callsOf = ({ calls }: ExecutionResult): readonly string[] =>
  calls.map(({ tool, outcome }) => `${tool} ${outcome}`);

const READS = "const text = await files.read({}); console.log(text); return text";

describe("a program that runs while its types are checked", () => {
  it("reads before the verdict, and its result is given out after it", async () => {
    const { done, say, invoked, events, noted } = await start(READS);
    await until(() => invoked.length > 0);
    assert.equal(await isOpen(done), true);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ["opened"],
      "nothing that was read is given out",
    );
    say("fits");
    const result = await done;
    assert.deepEqual(
      [result.state, result.value, result.logs.map(({ text }) => text), result.findings, callsOf(result)],
      ["completed", "private words", ["private words"], [FINDING], ["files.read ok"]],
    );
    assert.deepEqual(
      noted.map((event) => (event.kind === "began" ? event.isUnchecked : event.kind)),
      [true, "given", "checked"],
    );
  });
  it("is answered with the mistake and the calls that were made if it is wrong, and with nothing that it read", async () => {
    const { done, say, invoked, events } = await start(READS);
    await until(() => invoked.length > 0);
    await sleep(50);
    say("wrong");
    const result = await done;
    assert.deepEqual(
      [result.state, result.error, result.findings, callsOf(result), result.logs, result.value],
      ["failed", ERROR, [FINDING], ["files.read ok"], [], undefined],
    );
    assert.equal(JSON.stringify([result, events]).includes("private words"), false);
    assert.equal(result.stats.calls, 1);
  });
  it("waits with a write, which leaves when the types fit", async () => {
    const { done, say, invoked } = await start("await files.read({}); return await files.write({})");
    await until(() => invoked.length > 0);
    assert.equal(await isOpen(done), true);
    assert.deepEqual(invoked, ["files.read"]);
    say("fits");
    assert.deepEqual([(await done).state, invoked], ["completed", ["files.read", "files.write"]]);
  });
  it("never makes a write if it is wrong", async () => {
    const { done, say, invoked } = await start("await files.read({}); return await files.write({})");
    await until(() => invoked.length > 0);
    assert.equal(await isOpen(done), true);
    say("wrong");
    const result = await done;
    assert.deepEqual([result.error?.code, callsOf(result)], ["PROGRAM_TYPES", ["files.read ok", "files.write denied"]]);
    assert.deepEqual(invoked, ["files.read"]);
  });
  it("is ended by the verdict although it waits for something else", async () => {
    const { done, say, invoked } = await start(READS, {
      typeCheck: "beside",
      invoke: () => new Promise(() => undefined),
    });
    await until(() => invoked.length > 0);
    say("wrong");
    assert.equal((await done).error?.code, "PROGRAM_TYPES");
  });
  it("is answered with the mistake and not with the error that it caused", async () => {
    const { done, say } = await start('throw new Error("private words")');
    assert.equal(await isOpen(done), true);
    say("wrong");
    const { error } = await done;
    assert.deepEqual(error, ERROR);
  });
  it("keeps its own error if its types fit", async () => {
    const { done, say } = await start('throw new Error("oh")');
    say("fits");
    assert.equal((await done).error?.code, "PROGRAM_THREW");
  });
  it("gives out none of its log lines when it is cancelled before the verdict", async () => {
    const { done, invoked, events, cancel } = await start(`${READS.replace("return text", "")}; await files.write({})`);
    await until(() => invoked.length > 0);
    assert.equal(await isOpen(done), true);
    cancel();
    const result = await done;
    assert.deepEqual(
      [result.state, result.logs, callsOf(result)],
      ["cancelled", [], ["files.read ok", "files.write error"]],
    );
    assert.equal(JSON.stringify([result, events]).includes("private words"), false);
  });
  it("fails without details if the check itself fails, and its write is not made", async () => {
    const { done, say, invoked } = await start("await files.write({})");
    assert.equal(await isOpen(done), true);
    say("broken");
    assert.deepEqual([(await done).error?.code, invoked], ["INTERNAL_BUG", []]);
  });
  it("does not start before the verdict with typeCheck before", async () => {
    const { done, say, invoked } = await start(READS, { typeCheck: "before" });
    assert.deepEqual([await isOpen(done), invoked], [true, []]);
    say("wrong");
    const result = await done;
    assert.deepEqual([result.error?.code, result.calls, invoked], ["PROGRAM_TYPES", [], []]);
  });
});

describe("the time of a program that waits for its verdict", () => {
  const limits = { wallMs: 400 };

  it("stands still, so a slow check does not end it", async () => {
    const longer = { wallMs: 3_000 };
    const { done, say } = await start("await files.write({}); return 1", { typeCheck: "beside", limits: longer });
    await sleep(4_000);
    say("fits");
    const { state, stats, error } = await done;
    assert.deepEqual([error, state], [undefined, "completed"]);
    assert.ok(stats.wallMs < longer.wallMs && stats.queueMs > 300, JSON.stringify(stats));
  });
  it("runs again after the verdict", async () => {
    const source = "await files.write({}); await new Promise(() => setTimeout(() => undefined, 5_000))";
    const { done, say } = await start(source, { typeCheck: "beside", limits });
    await sleep(1_000);
    say("fits");
    assert.equal((await done).error?.code, "LIMIT_TIME");
  });
  it("runs on while no call waits", async () => {
    const { done, say } = await start("await new Promise(() => setTimeout(() => undefined, 5_000))", {
      typeCheck: "beside",
      limits,
    });
    await sleep(1_000);
    say("fits");
    assert.equal((await done).error?.code, "LIMIT_TIME");
  });
  it("runs on while it computes beside a call that waits", async () => {
    const { done, say } = await start("void files.write({}); for (;;) { if (Date.now() < 0) break }", {
      typeCheck: "beside",
      limits,
    });
    await sleep(1_000);
    say("fits");
    assert.equal((await done).error?.code, "LIMIT_TIME");
  });
});
