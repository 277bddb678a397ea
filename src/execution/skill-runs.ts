/** What the review of skills needs of executions: recordings of past ones, and runs of their tests. */

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

/** Each opens a sandbox of its own, and nothing else. */
export function createSkillRuns(options: SkillRunOptions): {
  readonly runTests: RunSkillTests;
  readonly readRun: ReadRun;
} {
  const { journal, store, vault, now } = options;
  const open = async () => openJournals({ ...journal, store: store.journals, seal: await vault.openSeal(), now });
  return { runTests: createTestRunner(options), readRun: createRunReader({ ...options, openJournals: open }) };
}
