/** An execution that is claimed and cannot be resumed, on a real store and ledger. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import { openLedger } from "../../ledger/open-ledger.ts";
import { AGENT, EXECUTION } from "../../../test/fixtures/bridge/test-bridge.ts";
import { defined } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";
import { closeExecution } from "../execution-log.ts";
import { NEVER_SUSPENDED, NO_JOURNALS } from "../fixtures/durable.ts";
import { readTrail } from "../ledger-trail.ts";
import { createRunningTable } from "../running-table.ts";
import { resumeExecution } from "./resume-execution.ts";
import type { ResumeDeps } from "./resume-execution.ts";

const OPENING = { id: EXECUTION, principal: AGENT.id, source: digestOf("1"), sourceText: "1", startedAt: 1 };
const unreached = (): never => assert.fail("no program runs");

/** Left open by `owner`, without a journal. */
async function open(owner: string) {
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
