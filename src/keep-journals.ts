/** Keeps what entered programs, sealed with a key of the vault, for as long as the operator says. */

import type { Seal } from "./domain/index.ts";
import type { Settings } from "./config/index.ts";
import { openJournals } from "./execution/index.ts";
import type { Journals } from "./execution/index.ts";
import type { Store } from "./store/index.ts";
import { reportIncident } from "./host-powers.ts";

const HOUR_MS = 3_600_000;

/** Lets go of old ones now and every hour, until it is closed. */
export function keepJournals(
  { journal }: Settings,
  { store, seal }: { readonly store: Store; readonly seal: Seal },
): Journals & AsyncDisposable {
  const journals = openJournals({ store: store.journals, seal, now: Date.now, ...journal });
  let dropping: Promise<unknown> = Promise.resolve();
  const drop = (): void => void (dropping = dropping.then(() => journals.drop()).catch(reportIncident));
  drop();
  const timer = setInterval(drop, HOUR_MS).unref();
  return {
    ...journals,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await dropping;
    },
  };
}
