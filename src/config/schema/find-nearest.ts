/** Which known word a mistyped one was probably meant to be. */

/** The known word with the fewest edits, case aside; `undefined` when more than half of it would have to change. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const longest = Math.max(0, ...known.map((candidate) => candidate.length));
  // Comparing takes time in proportion to both lengths, and a word of twice the length is nobody's typing error.
  if (word.length > 2 * longest) return undefined;
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: countEdits(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(word.length, candidate.length) / 2)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}

/** Levenshtein's distance: insertions, deletions and replacements that turn one word into the other. */
export function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of from.split("").entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (character === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
