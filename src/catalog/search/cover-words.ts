/**
 * Orders the best tools of a long query so that the first few match different words of it: "read the sheet and draw a
 * chart" asks for two tools, and five that read sheets would hide the one that draws. Pure.
 */

/** Shorter queries ask for one thing. */
export const LONG_QUERY = 6;
/** Later tools keep their place. */
const REORDERED = 24;
/** The share of a match that counts no more once an earlier tool has it. */
const REPEATED = 0.6;

interface ScoredPlace {
  readonly place: number;
  readonly score: number;
}

/** `parts` has, for each word of the query, what it adds to the score of the tool at a place. Scores stay sorted. */
export function coverWords<Scored extends ScoredPlace>(
  sorted: readonly Scored[],
  parts: readonly ReadonlyMap<number, number>[],
): readonly Scored[] {
  const left = sorted.slice(0, REORDERED);
  const covered = parts.map(() => 0);
  const ordered: Scored[] = [];
  for (const { score } of sorted.slice(0, REORDERED)) {
    const values = left.map((one) => one.score * freshShare(one.place, parts, covered));
    const [next] = left.splice(values.indexOf(Math.max(...values)), 1);
    if (!next) break;
    for (const [word, part] of parts.entries()) {
      covered[word] = Math.max(covered[word] ?? 0, part.get(next.place) ?? 0);
    }
    ordered.push({ ...next, score });
  }
  return [...ordered, ...sorted.slice(REORDERED)];
}

/** How much of a tool's match is not covered by the tools before it, from 1 - REPEATED to 1. */
function freshShare(place: number, parts: readonly ReadonlyMap<number, number>[], covered: readonly number[]): number {
  let [fresh, whole] = [0, 0];
  for (const [word, part] of parts.entries()) {
    const own = part.get(place) ?? 0;
    if (own === 0) continue;
    whole += own;
    fresh += own * (1 - REPEATED * Math.min(1, (covered[word] ?? 0) / own));
  }
  return whole === 0 ? 1 : fresh / whole;
}
