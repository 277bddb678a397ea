/** Progress notifications of a server: cleaned, cut and limited in rate. */

import type { ProgressCallback } from "@modelcontextprotocol/client";

import { defined } from "../../../domain/index.ts";
import type { CallProgress, Instant } from "../../../domain/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";

const PAUSE_MS = 100;
const MAX_MESSAGE_BYTES = 500;

/** Passes at most ten a second; the others are dropped before their text is read. */
export function createProgressGate(
  listener: (progress: CallProgress) => void,
  { now, clean }: { readonly now: () => Instant; readonly clean: TextCleaner },
): ProgressCallback {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress: done, total, message }) => {
    const at = now();
    if (!Number.isFinite(done) || at - last < PAUSE_MS) return;
    last = at;
    const shown = message === undefined ? undefined : toShownText(message, clean, MAX_MESSAGE_BYTES);
    listener({ done, ...defined({ total: Number.isFinite(total) ? total : undefined, message: shown }) });
  };
}
