/** Finds the known key that a mistyped one probably means. */

import { countEdits } from "../../text/index.ts";

/** Returns the known word with the fewest edits, ignoring case; `undefined` if more than half of it differs. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const longest = Math.max(0, ...known.map((candidate) => candidate.length));
  // Bounds the cost: a word of twice the length is not a typing error.
  if (word.length > 2 * longest) return undefined;
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: countEdits(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.max(word.length, candidate.length) / 2)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}
