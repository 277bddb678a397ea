/** Journals that are dropped when the operator's time or size limit is reached. */

import { HOUR_MS, pollEvery } from "../../timing/index.ts";

import type { Journals } from "../journal.ts";
import { openJournals } from "./open-journals.ts";
import type { JournalsOptions } from "./open-journals.ts";

export interface KeptJournalsOptions extends JournalsOptions {
  /** Called when old journals could not be dropped; the next attempt follows an hour later. */
  readonly report: (thrown: unknown) => unknown;
}

/** Drops old journals now and every hour. Disposing waits for the drop in progress. */
export function keepJournals(options: KeptJournalsOptions): Journals & AsyncDisposable {
  const journals = openJournals(options);
  const drop = async (): Promise<void> => {
    await journals.drop().catch(options.report);
  };
  return { ...journals, ...pollEvery(HOUR_MS, drop, drop()) };
}
