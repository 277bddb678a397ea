/** Edit distance between two words. */

/** Levenshtein's distance; `Infinity` above `limit`, which is found early for most pairs. */
export function countEdits(from: string, to: string, limit = Infinity): number {
  if (Math.abs(from.length - to.length) > limit) return Infinity;
  const row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    if (fillRow(row, to, { code: from.charCodeAt(i - 1), first: i }) > limit) return Infinity;
  }
  const edits = row[to.length] ?? Infinity;
  return edits > limit ? Infinity : edits;
}

/** Replaces the row by the next one, and returns its least number. */
function fillRow(row: number[], to: string, { code, first }: { code: number; first: number }): number {
  let [diagonal, left, least] = [row[0] ?? 0, first, first];
  row[0] = first;
  for (let j = 1; j <= to.length; j += 1) {
    const above = row[j] ?? 0;
    const replaced = diagonal + (to.charCodeAt(j - 1) === code ? 0 : 1);
    left = Math.min(replaced, above + 1, left + 1);
    row[j] = left;
    diagonal = above;
    if (left < least) least = left;
  }
  return least;
}
