/** Exponential backoff. */

export interface BackoffRange {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after this many failures in a row: `firstMs` after the first, doubled after each further one, at most `longestMs`. */
export function backoffMs(failures: number, { firstMs, longestMs }: BackoffRange): number {
  return failures < 1 ? 0 : Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
