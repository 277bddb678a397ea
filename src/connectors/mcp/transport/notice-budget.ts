/**
 * Decides which lines of a child server are parsed. Notifications are the only messages that a server may send
 * unrequested, so a flood of them must cost little: those over the budget are dropped unparsed.
 */

import type { Instant } from "../../../domain/index.ts";

const WINDOW_MS = 100;
/** Per window: a thousand per second, more than any honest server sends. */
const NOTICES = 100;
/** A separate budget, so that a flood of progress does not hide a change of tools. */
const CHANGES = 10;

/** True for a line that should be parsed. */
export type AdmitLine = (line: string) => boolean;

/** Answers and requests have an `id` and always pass. */
export function createNoticeBudget(now: () => Instant): AdmitLine {
  let windowEnd = Number.NEGATIVE_INFINITY;
  let notices = 0;
  let changes = 0;
  return (line) => {
    if (line.includes('"id"')) return true;
    const at = now();
    if (at >= windowEnd || at < windowEnd - WINDOW_MS) {
      windowEnd = at + WINDOW_MS;
      notices = 0;
      changes = 0;
    }
    if (notices < NOTICES) return (notices += 1) > 0;
    return line.includes("list_changed") && changes < CHANGES && (changes += 1) > 0;
  };
}
