/**
 * Deletes old executions, journals and kept results when executions end, so that the store stays within its limits. Seals
 * in the background what older versions stored in clear.
 */

import type { Instant } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { MINUTE_MS, pollEvery } from "../timing/index.ts";

import type { Journals } from "./journal.ts";
import { keepJournals } from "./journal/open-journals.ts";
import type { JournalsOptions } from "./journal/open-journals.ts";

export interface RetentionOptions {
  readonly store: {
    readonly executions: Pick<Store["executions"], "drop">;
    readonly results: Pick<Store["results"], "expire">;
  };
  readonly journals: Pick<Journals, "drop">;
  readonly now: () => Instant;
  /** How long an execution is kept after it ended. */
  readonly keepMs: number;
  /** The total size of the sources and results of ended executions. */
  readonly totalBytes: number;
  /** The limits are applied at the next end once this much was stored. */
  readonly stepBytes: number;
  readonly report: (thrown: unknown) => unknown;
}

export interface Retention extends AsyncDisposable {
  /** Counts what an execution stored. */
  stored(bytes: number): void;
  /** Applies the limits if much was stored, or some time has passed, since they were applied last. Does not wait. */
  ended(): void;
}

/** Finding what to delete costs more than a small execution: the time limit may be exceeded by this part of it. */
const SLACK = 1 / 64;

/** Disposing waits for the deletion in progress. */
export function createRetention(options: RetentionOptions): Retention {
  const { store, journals, now, keepMs, totalBytes, stepBytes, report } = options;
  const everyMs = Math.min(MINUTE_MS, keepMs * SLACK);
  let storedBytes = 0;
  let appliedAt = -Infinity;
  let isAgain = false;
  let running: Promise<void> | undefined;

  const apply = async (): Promise<void> => {
    do {
      isAgain = false;
      [storedBytes, appliedAt] = [0, now()];
      await store.executions.drop({ endedBefore: now() - keepMs, totalBytes });
      await journals.drop();
      await store.results.expire(now());
    } while (isAgain);
  };
  return {
    stored: (bytes) => void (storedBytes += bytes),
    ended() {
      if (storedBytes < stepBytes && now() - appliedAt < everyMs) return;
      isAgain = true;
      running ??= apply()
        .catch(report)
        .then(() => void (running = undefined));
    },
    async [Symbol.asyncDispose]() {
      await running;
    },
  };
}

/** The journals of a gateway, within the limits that the operator set for them and for executions. */
export function keepRecords({ journal, executions, store, ...powers }: RecordOptions) {
  const stored = (bytes: number): void => retention.stored(bytes);
  const journals = keepJournals({ ...powers, ...journal, store: store.journals, onStored: stored });
  const stepBytes = Math.min(executions.totalBytes, journal.totalBytes) * SLACK;
  const retention = createRetention({ ...powers, ...executions, stepBytes, store, journals });
  const sealing = startSealing({ store, report: powers.report });
  return {
    journals,
    retention,
    async [Symbol.asyncDispose]() {
      await sealing[Symbol.asyncDispose]();
      await retention[Symbol.asyncDispose]();
      await journals[Symbol.asyncDispose]();
    },
  };
}

type JournalSettings = "keepMs" | "totalBytes" | "executionBytes";

interface RecordOptions extends Pick<RetentionOptions, "now" | "report">, Pick<JournalsOptions, "seal"> {
  readonly journal: Pick<JournalsOptions, JournalSettings>;
  readonly executions: Pick<RetentionOptions, "keepMs" | "totalBytes">;
  readonly store: RetentionOptions["store"] & SealingOptions["store"] & { readonly journals: JournalsOptions["store"] };
}

interface SealingOptions {
  readonly store: Pick<Store, "sealOlder">;
  readonly report: (thrown: unknown) => unknown;
}

/** Rebuilding the file holds the thread for some milliseconds per MiB: a small one is rebuilt at once, a larger at a start. */
const SMALL_FILE_BYTES = 16 * 1024 * 1024;
const LARGEST_FILE_BYTES = 256 * 1024 * 1024;

/**
 * Now, and every minute because an older gateway on the same store may still write. The store must be unlocked. Disposing
 * waits for the step in progress; the next start continues.
 */
export function startSealing({ store, report }: SealingOptions): AsyncDisposable {
  let rebuildBytes = LARGEST_FILE_BYTES;
  const stop = new AbortController();
  /** The first step of a start may rebuild a larger file: nothing waits for it but the start. */
  const seal = async (): Promise<void> => {
    for (let left = "results"; left === "results" && !stop.signal.aborted; rebuildBytes = SMALL_FILE_BYTES) {
      left = await store.sealOlder(rebuildBytes);
    }
  };
  let hasFailed = false;
  const attempt = async (): Promise<void> => {
    try {
      await seal();
      hasFailed = false;
    } catch (thrown) {
      if (!hasFailed) report(thrown);
      hasFailed = true;
    }
  };
  const polling = pollEvery(MINUTE_MS, attempt, attempt());
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await polling[Symbol.asyncDispose]();
    },
  };
}
