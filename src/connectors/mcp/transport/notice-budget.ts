/**
 * Decides which lines of a child server are worth reading. A notification is the one kind of message that a server may
 * send without being asked, so a flood of them must cost next to nothing: those over the budget are not even parsed.
 */

import type { Instant } from "../../../domain/index.ts";

const WINDOW_MS = 100;
/** Per window: a thousand per second, above any honest server. */
const NOTICES = 100;
/** Kept apart, so that a flood of progress does not hide that the tools are others now. */
const CHANGES = 10;

/** True for a line that is to be read. */
export type AdmitLine = (line: string) => boolean;

/** Whatever may be an answer or a request has an `id` and always passes. */
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
