/** Orders the tools of an index by how well they answer a query. Pure. */

import type { Tool } from "../../domain/index.ts";
import { parseQuery } from "./parse-query.ts";
import type { Wanted } from "./parse-query.ts";
import { weighEffects } from "./query-intent.ts";
import type { Postings, SearchIndex } from "./search-index.ts";

/** How much a tool gains whose own name is said in full by the query. */
const NAME_BONUS = 0.8;
/** How much a tool gains whose server is named by the query. */
const SERVER_BONUS = 0.7;
/** Of several ways to say one word, the best counts in full and the others this much. */
const REPEATED = 0.1;

/** Only tools that match at all, best first; equal ones in the order of the index. */
export function rankTools(index: SearchIndex, query: string): readonly Tool[] {
  const wanted = parseQuery(query, index.vocabulary);
  const scores = new Float64Array(index.tools.length);
  for (const one of wanted) addScores(index, one, scores);
  const said = toSaid(wanted);
  const kept = weighEffects(query);
  const matching: { readonly place: number; readonly score: number }[] = [];
  for (const [place, score] of scores.entries()) {
    if (score === 0) continue;
    const bonus = NAME_BONUS * coverageOf(index, place, said) + SERVER_BONUS * namingOf(index, place, said);
    matching.push({ place, score: score * (1 + bonus) * kept[index.tools[place]?.effect ?? "unknown"] });
  }
  const sorted = matching.toSorted((a, b) => b.score - a.score || a.place - b.place);
  return sorted.map(({ place }) => index.tools[place]).filter((tool) => tool !== undefined);
}

/** A tool that has a word in three forms is not three times as good: the best form counts. */
function addScores({ postings }: SearchIndex, wanted: Wanted, scores: Float64Array): void {
  const best = new Float64Array(scores.length);
  for (const { terms, weight } of wanted) {
    const found = terms.map((term) => postings.get(term)).filter((one) => one !== undefined);
    const [only] = found.length > 1 ? [addUp(found)] : found;
    if (only) keepBest(only, weight / Math.sqrt(terms.length), best);
  }
  for (let place = 0; place < best.length; place += 1) scores[place] = (scores[place] ?? 0) + (best[place] ?? 0);
}

function keepBest({ tools, weights }: Postings, factor: number, best: Float64Array): void {
  for (let at = 0; at < tools.length; at += 1) {
    const place = tools[at] ?? 0;
    const [now, score] = [best[place] ?? 0, (weights[at] ?? 0) * factor];
    best[place] = now > score ? now + REPEATED * score : score + REPEATED * now;
  }
}

/** Two words that stand for one: a tool that has both counts for both. */
function addUp(found: readonly Postings[]): Postings {
  const sums = new Map<number, number>();
  for (const { tools, weights } of found) {
    for (let at = 0; at < tools.length; at += 1) {
      const place = tools[at] ?? 0;
      sums.set(place, (sums.get(place) ?? 0) + (weights[at] ?? 0));
    }
  }
  return { tools: Uint32Array.from(sums.keys()), weights: Float32Array.from(sums.values()) };
}

/** How surely each term was said, from 0 to 1. */
function toSaid(wanted: readonly Wanted[]): ReadonlyMap<string, number> {
  const said = new Map<string, number>();
  for (const { terms, weight } of wanted.flat()) {
    for (const term of terms) said.set(term, Math.max(weight, said.get(term) ?? 0));
  }
  return said;
}

/** How surely a tool's server was named, all of its words. */
function namingOf({ servers }: SearchIndex, place: number, said: ReadonlyMap<string, number>): number {
  const terms = servers[place] ?? [];
  return terms.reduce((least, term) => Math.min(least, said.get(term) ?? 0), terms.length > 0 ? 1 : 0);
}

/** The share of a tool's own name that the query says; rare words of it count more. */
function coverageOf(index: SearchIndex, place: number, said: ReadonlyMap<string, number>): number {
  let [covered, whole] = [0, 0];
  for (const term of index.names[place] ?? []) {
    const rarity = index.rarityOf(term);
    whole += rarity;
    covered += rarity * (said.get(term) ?? 0);
  }
  return whole === 0 ? 0 : covered / whole;
}
