/** What a gateway keeps between requests: questions to people, journals of programs, large results, labels of sessions. */

import type { Ledger } from "./ledger/index.ts";
import type { Settings } from "./config/index.ts";
import { createResults } from "./execution/index.ts";
import { openFlows } from "./policy/index.ts";
import type { Store } from "./store/index.ts";
import type { Vault } from "./vault/index.ts";
import type { Parts } from "./create-rooms.ts";
import { createResultId } from "./host-powers.ts";
import { keepJournals } from "./keep-journals.ts";
import { openQueue } from "./open-approvals.ts";
import { openQuestions } from "./open-questions.ts";

interface KeptParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly vault: Vault;
}

/** Closed with `opened`. */
export async function openKept(
  settings: Settings,
  parts: KeptParts,
  opened: AsyncDisposableStack,
): Promise<Pick<Parts, "approvals" | "questions" | "journals" | "results" | "flows">> {
  const { store, vault } = parts;
  const approvals = opened.use(await openQueue(settings, parts));
  const seal = await vault.openSeal();
  const journals = opened.use(keepJournals(settings, { store, seal }));
  const questions = openQuestions(settings, { approvals, seal });
  const results = createResults({ store: store.results, now: Date.now, createId: createResultId, ...settings.results });
  const flows = await openFlows({ mode: settings.policy.flows, store: store.labels, now: Date.now });
  return { approvals, journals, results, flows, ...(questions && { questions }) };
}
