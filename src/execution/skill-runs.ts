/** What the review of skills needs of executions: recordings of past ones, and runs of their tests. */

import type { ExecutionId, PrincipalId } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { openJournals } from "./journal/open-journals.ts";
import { createRunReader } from "./replay/read-run.ts";
import type { ReadRun, RunReaderOptions } from "./replay/read-run.ts";
import { createTestRunner } from "./replay/run-skill-tests.ts";
import type { RunSkillTests, TestRunnerOptions } from "./replay/run-skill-tests.ts";

type JournalOptions = Parameters<typeof openJournals>[0];

interface SkillRunOptions
  extends Omit<TestRunnerOptions, "timebox">, Omit<RunReaderOptions, "openJournals" | "sandbox"> {
  readonly sandbox: TestRunnerOptions["sandbox"];
  readonly analysis: TestRunnerOptions["analysis"];
  readonly journal: Omit<JournalOptions, "store" | "seal" | "now">;
  readonly store: Pick<Store, "executions" | "journals">;
  readonly vault: { openSeal(): Promise<JournalOptions["seal"]> };
}

/** Completed executions, newest first. */
type ListPrograms = (
  limit: number,
) => Promise<readonly { readonly execution: ExecutionId; readonly principal: PrincipalId; readonly source: string }[]>;

/** Each opens a sandbox of its own, and nothing else. */
export function createSkillRuns(options: SkillRunOptions): {
  readonly runTests: RunSkillTests;
  readonly readRun: ReadRun;
  readonly listPrograms: ListPrograms;
} {
  const { journal, store, vault, now } = options;
  const open = async () => openJournals({ ...journal, store: store.journals, seal: await vault.openSeal(), now });
  const listPrograms: ListPrograms = async (limit) => {
    const completed = await store.executions.list({ limit, state: "completed" });
    const heads = await Promise.all(completed.map(({ id }) => store.executions.findHead(id)));
    return heads.flatMap((head) =>
      head ? [{ execution: head.id, principal: head.principal, source: head.sourceText }] : [],
    );
  };
  return {
    listPrograms,
    runTests: createTestRunner(options),
    readRun: createRunReader({ ...options, openJournals: open }),
  };
}
