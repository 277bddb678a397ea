/** Edit distance between two words. */

/** Levenshtein's distance; `Infinity` above `limit`, which is found early for most pairs. */
export function countEdits(from: string, to: string, limit = Infinity): number {
  if (Math.abs(from.length - to.length) > limit) return Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    row = nextRow(row, to, { code: from.charCodeAt(i - 1), first: i });
    if (Math.min(...row) > limit) return Infinity;
  }
  const edits = row[to.length] ?? Infinity;
  return edits > limit ? Infinity : edits;
}

function nextRow(row: readonly number[], to: string, { code, first }: { code: number; first: number }): number[] {
  const next = [first];
  for (let j = 1; j <= to.length; j += 1) {
    const replaced = (row[j - 1] ?? 0) + (to.charCodeAt(j - 1) === code ? 0 : 1);
    next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
  }
  return next;
}
