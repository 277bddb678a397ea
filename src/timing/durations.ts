/** Durations in milliseconds: those with a name, and exponential backoff. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export interface BackoffRange {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after this many failures in a row: `firstMs` after the first, doubled after each further one, at most `longestMs`. */
export function backoffMs(failures: number, { firstMs, longestMs }: BackoffRange): number {
  return failures < 1 ? 0 : Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
