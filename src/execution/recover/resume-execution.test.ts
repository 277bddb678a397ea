/** An execution that is claimed and cannot be resumed, on a real store and ledger. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { openLedger } from "../../ledger/open-ledger.ts";
import { AGENT, EXECUTION, TOOLS, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { AnalysisResult } from "../../analysis/index.ts";
import { DEFAULT_LIMITS, GloveboxError, defined } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";
import { closeExecution } from "../execution-log.ts";
import { NEVER_SUSPENDED, NO_JOURNAL, NO_JOURNALS } from "../fixtures/durable.ts";
import { toRecording } from "../journal.ts";
import type { JournalEvent } from "../journal.ts";
import { readTrail } from "../ledger-trail.ts";
import { createRecheck } from "../run/analyze-program.ts";
import { createRunningTable } from "../running-table.ts";
import { emptyResult } from "../settle.ts";
import { resumeExecution } from "./resume-execution.ts";
import type { ResumeDeps } from "./resume-execution.ts";

const OPENING = { id: EXECUTION, principal: AGENT.id, source: digestOf("1"), sourceText: "1", startedAt: 1 };
const unreached = (): never => assert.fail("no program runs");

/** Left open by `owner`, by default without a journal. */
async function open(owner: string, changes: Partial<ResumeDeps> = {}) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const ledger = await openLedger({ store, now: () => 0 });
  await store.executions.open({ ...OPENING, owner });
  await ledger.write({ actor: AGENT.id, action: "execution.opened", subject: EXECUTION, detail: {} });
  const settled: string[] = [];
  let searches = 0;
  const search: typeof store.ledger.search = (query) => {
    searches += 1;
    return store.ledger.search(query);
  };
  const deps: ResumeDeps = {
    ...NEVER_SUSPENDED,
    engine: "isolate",
    isolation: "process",
    report: () => "in_1",
    hide: (text) => text,
    store: { ...store, ledger: { search } },
    ledger,
    journals: NO_JOURNALS,
    owner: "here",
    hasEnded: (name) => name === "dead",
    releaseQuota: async (id) => void settled.push(id),
    log: {
      open: unreached,
      openOnce: unreached,
      refuse: unreached,
      close: (execution, result) => closeExecution(execution, result, { store, ledger, now: () => 2 }),
    },
    labelSession: unreached,
    attempt: unreached,
    runProgram: unreached,
    admit: unreached,
    snapshot: unreached,
    resolvePrincipal: async () => AGENT,
    checkAgain: unreached,
    ...changes,
  };
  const stored = (await store.executions.find(EXECUTION)) ?? assert.fail();
  const resumeOnce = async (isRead: boolean) => {
    const trail = isRead ? await readTrail(EXECUTION, { store }) : undefined;
    const entry = createRunningTable((text) => text).enter({ principal: AGENT.id });
    return resumeExecution(stored, { why: "restarted", entry, ...defined({ trail }) }, deps);
  };
  return { store, resumeOnce, settled, count: () => searches };
}

describe("resumeExecution without a journal", () => {
  for (const [owner, isLost] of [
    ["dead", true],
    ["elsewhere", false],
  ] as const)
    it(`closes the execution as failed and ${isLost ? "releases the quota of its dead process" : "keeps the quota of a process that may still run"}`, async () => {
      const { store, resumeOnce, settled } = await open(owner);
      const result = await resumeOnce(true);
      assert.deepEqual([result?.state, result?.error?.code], ["failed", "REPLAY_DIVERGED"]);
      assert.equal((await store.executions.find(EXECUTION))?.ending?.errorCode, "REPLAY_DIVERGED");
      assert.deepEqual(settled, isLost ? [EXECUTION] : []);
    });

  it("searches the ledger at the end, and at the start only without a known trail", async () => {
    const [told, untold] = [await open("dead"), await open("dead")];
    await told.resumeOnce(true);
    await untold.resumeOnce(false);
    assert.deepEqual([told.count(), untold.count()], [1, 2]);
  });
});

describe("resumeExecution on a store that refuses records", () => {
  const full = new GloveboxError("STORE_UNAVAILABLE", "The disk is full");
  /** Refuses this many records. */
  async function openFull(refusals: number, leaving: AbortSignal) {
    const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
    const ledger = await openLedger({ store, now: () => 0 });
    let left = refusals;
    const write: typeof ledger.write = async (...given) => {
      left -= 1;
      if (left >= 0) throw full;
      return ledger.write(...given);
    };
    const reports: unknown[] = [];
    const report = (thrown: unknown): string => `in_${reports.push(thrown)}`;
    const opened = await open("dead", { ledger: { write }, leaving, report });
    return {
      ...opened,
      reports,
      records: async () => (await store.ledger.search({ limit: 9 })).map(({ action }) => action),
    };
  }

  it("waits for the store after it claimed the execution, and then runs it", async () => {
    const { store, resumeOnce, reports, records } = await openFull(1, new AbortController().signal);
    const result = await resumeOnce(true);
    assert.deepEqual(reports, [full]);
    assert.deepEqual([result?.state, await records()], ["failed", ["execution.resumed"]]);
    assert.equal((await store.executions.find(EXECUTION))?.ending?.state, "failed");
  });

  it("leaves it open for the next start if the gateway closes first", async () => {
    const leaving = new AbortController();
    const { store, resumeOnce, records } = await openFull(Infinity, leaving.signal);
    leaving.abort();
    await assert.rejects(resumeOnce(true), { code: "STORE_UNAVAILABLE" });
    const stored = await store.executions.find(EXECUTION);
    assert.deepEqual([stored?.ending, stored?.owner, await records()], [null, "here", []]);
  });
});

describe("resumeExecution of a program whose process ended before the verdict about its types", () => {
  const program = {
    digest: digestOf("1"),
    source: "",
    checkable: "",
    javascript: "return 1",
    insertions: [],
    calls: [],
    findings: [],
  };
  const start = { seed: [1, 2, 3, 4], atMs: 0 };
  const asked = { kind: "asked", principal: AGENT, source: "1", limits: DEFAULT_LIMITS, start } as const;
  const began = { kind: "began", start, program, namespaces: [], network: false, engine: "isolate" } as const;
  const finding = { rule: "types", severity: "warn", message: "m", line: 1, column: 1 } as const;
  const error = { code: "PROGRAM_TYPES", message: "The API has no tool a.b", retry: false } as const;

  async function resume(events: readonly JournalEvent[], checked: AnalysisResult) {
    const noted: JournalEvent[] = [];
    const journal = { ...NO_JOURNAL, note: (event: JournalEvent) => void noted.push(event) };
    let checks = 0;
    const { resumeOnce } = await open("dead", {
      journals: { ...NO_JOURNALS, reopen: async () => ({ recording: toRecording(events) ?? assert.fail(), journal }) },
      admit: async ({ wallMs }) => ({ wallMs, release: async () => undefined }),
      snapshot: async () => snapshotOf(TOOLS),
      checkAgain: createRecheck({
        snapshot: async () => snapshotOf(TOOLS),
        declare: (snapshot) => ({ snapshot: snapshot.digest, declarations: "", namespaces: [] }),
        analyze: () => ({ ok: true, program }),
        check: () => {
          checks += 1;
          return checked;
        },
      }),
      labelSession: async () => undefined,
      runProgram: async ({ execution }, _request, { program: { findings } }) => ({
        ...emptyResult(execution, "completed", { engine: "isolate", isolation: "process" }),
        findings,
      }),
    });
    const result = await resumeOnce(true);
    return { state: result?.state, code: result?.error?.code, findings: result?.findings, noted, checks };
  }
  const right: AnalysisResult = { ok: true, program: { ...program, findings: [finding] } };

  it("checks them again, and runs it with the findings if they fit", async () => {
    const { state, findings, noted, checks } = await resume([asked, { ...began, isUnchecked: true }], right);
    assert.deepEqual([state, findings, checks], ["completed", [finding], 1]);
    assert.deepEqual(noted, [{ kind: "checked", findings: [finding] }]);
  });
  it("checks them again, and does not run it if they do not fit", async () => {
    const wrong: AnalysisResult = { ok: false, error, findings: [finding] };
    const { state, code, noted } = await resume([asked, { ...began, isUnchecked: true }], wrong);
    assert.deepEqual([state, code, noted], ["failed", "PROGRAM_TYPES", []]);
  });
  it("does not check them again if the verdict is in the journal, or was known before the program began", async () => {
    const verdict = { kind: "checked", findings: [finding] } as const;
    const after = await resume([asked, { ...began, isUnchecked: true }, verdict], right);
    assert.deepEqual([after.state, after.findings, after.checks], ["completed", [finding], 0]);
    const before = await resume([asked, began], right);
    assert.deepEqual([before.state, before.findings, before.checks], ["completed", [], 0]);
  });
});
