/** Progress notifications of a server: cleaned, cut and limited in rate. */

import type { CallProgress, Instant } from "../../../domain/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";

const PAUSE_MS = 100;
const MAX_MESSAGE_BYTES = 500;

/** The unchecked fields of `notifications/progress`. */
export interface RawProgress {
  readonly progress?: unknown;
  readonly total?: unknown;
  readonly message?: unknown;
}

export interface ProgressOptions {
  readonly now: () => Instant;
  readonly clean: TextCleaner;
}

/** Passes at most ten a second; the others are dropped before their text is read. */
export function createProgressGate(
  listener: (progress: CallProgress) => void,
  { now, clean }: ProgressOptions,
): (raw: RawProgress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress: done, total, message }) => {
    const at = now();
    if (typeof done !== "number" || !Number.isFinite(done) || at - last < PAUSE_MS) return;
    last = at;
    listener({
      done,
      ...(typeof total === "number" && Number.isFinite(total) && { total }),
      ...(typeof message === "string" && { message: toShownText(message, clean, MAX_MESSAGE_BYTES) }),
    });
  };
}
