/** Writes that must not be lost: what this process has claimed or has run, no other process writes. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError } from "../../domain/index.ts";
import { SECOND_MS } from "../../timing/index.ts";

export interface UntilWrittenOptions {
  /** Ends the wait after one more attempt. */
  readonly leaving: AbortSignal;
  /** Called with the first refusal. */
  readonly report: (thrown: unknown) => unknown;
  /** The pause between two attempts. */
  readonly pauseMs?: number;
}

/**
 * Repeats `write` while the store refuses it, for example because the disk is full. Unless it is the
 * first attempt, `write` must find out what an earlier one has written. Rejects with any other error, and with the refusal once the gateway closes.
 */
export async function untilWritten<Value>(
  write: (isFirst: boolean) => Promise<Value>,
  { leaving, report, pauseMs = SECOND_MS }: UntilWrittenOptions,
): Promise<Value> {
  for (let isFirst = true; ; isFirst = false) {
    const isLast = leaving.aborted;
    try {
      return await write(isFirst);
    } catch (thrown) {
      if (isLast || !isRefusal(thrown)) throw thrown;
      if (isFirst) report(thrown);
    }
    await sleep(pauseMs, undefined, { signal: leaving }).catch(() => undefined);
  }
}

/** The store did not accept a write; a later one may be accepted. */
export function isRefusal(thrown: unknown): thrown is GloveboxError {
  return thrown instanceof GloveboxError && thrown.code === "STORE_UNAVAILABLE";
}
