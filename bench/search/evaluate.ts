/** Measures a ranking: the share of right tools among the first results, and their position. */

import type { Judged } from "./corpus.ts";

/** `server/name` of the tools found, best first; at least five if there are that many. */
export type Rank = (query: string) => readonly string[];

export interface Quality {
  readonly count: number;
  /** The share of queries with a right tool in first place, and among the first five. */
  readonly recall1: number;
  readonly recall5: number;
  /** The mean reciprocal rank of the first right tool. */
  readonly reciprocal: number;
  readonly gain5: number;
}

export function evaluate(queries: readonly Judged[], rank: Rank): Quality {
  const scores = queries.map(({ query, right }) => judge(rank(query), right));
  const mean = (pick: (score: Score) => number): number =>
    scores.reduce((sum, score) => sum + pick(score), 0) / scores.length;
  return {
    count: queries.length,
    recall1: mean(({ place }) => Number(place === 1)),
    recall5: mean(({ place }) => Number(place <= 5)),
    reciprocal: mean(({ place }) => 1 / place),
    gain5: mean(({ gain }) => gain),
  };
}

interface Score {
  /** The position of the first right tool, starting at 1; infinite if it was not found. */
  readonly place: number;
  readonly gain: number;
}

function judge(found: readonly string[], right: ReadonlySet<string>): Score {
  const at = found.findIndex((tool) => right.has(tool));
  const gained = found.slice(0, 5).reduce((sum, tool, index) => sum + (right.has(tool) ? discount(index) : 0), 0);
  const ideal = Array.from({ length: Math.min(5, right.size) }, (_, index) => discount(index));
  return { place: at < 0 ? Infinity : at + 1, gain: gained / ideal.reduce((sum, one) => sum + one, 0) };
}

const discount = (index: number): number => 1 / Math.log2(index + 2);

/** Even queries may be used to tune the ranking; odd ones only show whether the tuning generalizes. */
export function divide(queries: readonly Judged[]): {
  readonly tune: readonly Judged[];
  readonly held: readonly Judged[];
} {
  return { tune: queries.filter((_, at) => at % 2 === 0), held: queries.filter((_, at) => at % 2 === 1) };
}
