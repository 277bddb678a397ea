/** Ranks the tools of an index for a query. Pure. */

import type { Effect, Tool } from "../../domain/index.ts";
import { LONG_QUERY, coverWords } from "./cover-words.ts";
import { parseQuery, replacePhrases } from "./parse-query.ts";
import type { QueryWord } from "./parse-query.ts";
import type { Postings, SearchIndex } from "./search-index.ts";
import { splitWords, stem } from "./split-terms.ts";

const NAME_BONUS = 0.6;
const SERVER_BONUS = 0.7;
/** For a tool that matches every word of the query, not only a rare one. */
const WORDS_BONUS = 0.6;
/** Of several alternatives for one word, the best counts fully and the others by this factor. */
const REPEATED = 0.1;

export interface RankedTool {
  readonly tool: Tool;
  readonly score: number;
}

interface MatchingTool {
  readonly tool: Tool;
  readonly place: number;
  score: number;
}

/** Returns the tools that match, best first; equal ones in the order of the index, deprecated ones after all others. */
export function rankTools(index: SearchIndex, query: string): readonly RankedTool[] {
  const wanted = parseQuery(query, index.vocabulary);
  const [scores, matched] = [new Float64Array(index.tools.length), new Uint32Array(index.tools.length)];
  const best = new Float64Array(index.tools.length);
  const isLong = wanted.length >= LONG_QUERY;
  const parts = isLong ? wanted.map(() => new Map<number, number>()) : [];
  for (const [at, one] of wanted.entries()) addScores(index, one, { best, scores, matched, part: parts[at] });
  const certainties = toCertainties(wanted);
  const kept = weighEffects(replacePhrases(query));
  const wantsBulk = splitWords(query).some((word) => BULK.has(stem(word)));
  const matching: MatchingTool[] = [];
  for (const [place, tool] of index.tools.entries()) {
    const score = scores[place] ?? 0;
    if (score === 0) continue;
    const bonus =
      NAME_BONUS * coverageOf(index, place, certainties) + SERVER_BONUS * namingOf(index, place, certainties);
    const whole = 1 + (WORDS_BONUS * (matched[place] ?? 0)) / wanted.length;
    const isUnasked = !wantsBulk && (index.names[place] ?? []).some((word) => BULK.has(word));
    const fit =
      kept[tool.effect] * (isUnasked ? UNASKED_BULK : 1) * (tool.origin.kind === "skill" ? APPROVED_SKILL : 1);
    matching.push({ place, tool, score: score * (1 + bonus) * whole * fit });
  }
  preferServers(index, matching);
  const sorted = matching.toSorted((a, b) => b.score - a.score);
  return putDeprecatedLast(isLong ? coverWords(sorted, parts) : sorted);
}

/** How much a tool gains if its server's tools match the query best: one word can match any server, a task seldom does. */
const SIBLING_BONUS = 0.4;
/** The best tools of a server that count. */
const SIBLINGS = 5;

/** Raises the tools of the servers whose tools match the query, as what the query is about. */
function preferServers({ sizes }: SearchIndex, matching: readonly MatchingTool[]): void {
  const best = new Map<string, number[]>();
  for (const { tool, score } of matching) {
    const { connector } = tool.origin;
    const scores = best.get(connector);
    if (scores) insertBest(scores, score);
    else best.set(connector, [score]);
  }
  const means = new Map<string, number>();
  for (const [connector, scores] of best) {
    const sum = scores.reduce((all, score) => all + score, 0);
    means.set(connector, sum / Math.min(SIBLINGS, sizes.get(connector) ?? 1));
  }
  const most = Math.max(...means.values());
  for (const one of matching) one.score *= 1 + (SIBLING_BONUS * (means.get(one.tool.origin.connector) ?? 0)) / most;
}

/** Keeps the largest, in falling order. */
function insertBest(scores: number[], score: number): void {
  let at = scores.length;
  while (at > 0 && (scores[at - 1] ?? 0) < score) at -= 1;
  if (at >= SIBLINGS) return;
  scores.splice(at, 0, score);
  scores.length = Math.min(scores.length, SIBLINGS);
}

const BULK: ReadonlySet<string> = new Set("multiple batch bulk many several".split(" ").map(stem));
/** The factor of a tool for many at once, unless the query asks for that. */
const UNASKED_BULK = 0.85;

/** A skill that fits about as well as the tools that it calls saves the caller a program. */
const APPROVED_SKILL = 1.3;

/** `Deprecated. …`, `[deprecated]`, `This tool is deprecated`, `… DEPRECATED: use …`; not a tool that lists deprecated things. */
const DEPRECATED = [
  /^\W{0,3}deprecated\b|[[(]deprecated\b|\b(?:tool|method|endpoint|operation) (?:is|has been) deprecated\b/i,
  /\bDEPRECATED\b/,
];
/** A server states it early. */
const STATED_LENGTH = 400;

export function putDeprecatedLast(ranked: readonly RankedTool[]): readonly RankedTool[] {
  const [current, old]: [RankedTool[], RankedTool[]] = [[], []];
  for (const one of ranked) (isOld(one.tool) ? old : current).push(one);
  return [...current, ...old];
}

function isOld({ description }: Tool): boolean {
  const stated = description.slice(0, STATED_LENGTH);
  return DEPRECATED.some((pattern) => pattern.test(stated));
}

interface ScoreArrays {
  readonly best: Float64Array;
  readonly scores: Float64Array;
  readonly matched: Uint32Array;
  readonly part: Map<number, number> | undefined;
}

/**
 * The best alternative counts: a tool that has a word in three forms is not three times as good. `best` is all zeros.
 * `part` gets what the word adds to each place.
 */
function addScores({ postings }: SearchIndex, wanted: QueryWord, { best, scores, matched, part }: ScoreArrays): void {
  const places: number[] = [];
  for (const { terms, weight } of wanted) {
    const found = terms.map((term) => postings.get(term)).filter((one) => one !== undefined);
    const [only] = found.length > 1 ? [addUp(found)] : found;
    if (only) keepBest(only, weight / Math.sqrt(terms.length), best, places);
  }
  for (const place of places) {
    const added = best[place] ?? 0;
    scores[place] = (scores[place] ?? 0) + added;
    matched[place] = (matched[place] ?? 0) + 1;
    part?.set(place, added);
    best[place] = 0;
  }
}

/** Adds the places that had no score before to `places`. */
function keepBest({ tools, weights }: Postings, factor: number, best: Float64Array, places: number[]): void {
  for (let at = 0; at < tools.length; at += 1) {
    const place = tools[at] ?? 0;
    const [now, score] = [best[place] ?? 0, (weights[at] ?? 0) * factor];
    if (now === 0) places.push(place);
    best[place] = now > score ? now + REPEATED * score : score + REPEATED * now;
  }
}

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

/** How certainly the query contains each term, from 0 to 1. */
function toCertainties(wanted: readonly QueryWord[]): ReadonlyMap<string, number> {
  const certainties = new Map<string, number>();
  for (const { terms, weight } of wanted.flat()) {
    for (const term of terms) certainties.set(term, Math.max(weight, certainties.get(term) ?? 0));
  }
  return certainties;
}

/** How certainly the query names a tool's server, with all of its words. */
function namingOf({ servers }: SearchIndex, place: number, certainties: ReadonlyMap<string, number>): number {
  const terms = servers[place] ?? [];
  return terms.reduce((least, term) => Math.min(least, certainties.get(term) ?? 0), terms.length > 0 ? 1 : 0);
}

/** The share of a tool's name that the query contains; rare words count more. */
function coverageOf(index: SearchIndex, place: number, certainties: ReadonlyMap<string, number>): number {
  let [covered, whole] = [0, 0];
  for (const term of index.names[place] ?? []) {
    const rarity = index.rarityOf(term);
    whole += rarity;
    covered += rarity * (certainties.get(term) ?? 0);
  }
  return whole === 0 ? 0 : covered / whole;
}

type Intent = Exclude<Effect, "unknown">;

const WORDS: Readonly<Record<Intent, string>> = {
  read:
    "list show get find search read fetch view see look lookup browse display check count compare describe explain " +
    "download export retrieve query who what which when where how why is are does did has",
  write:
    "create add make new post send write update edit change set schedule upload put move rename assign invite share merge " +
    "close start stop run restart reboot enable disable subscribe book pay refund buy approve reject generate register " +
    "insert append attach publish deploy trigger launch copy duplicate fork import install reply comment mark lock unlock " +
    "resize restore reset save submit star follow give allow grant block ban tag label notify transfer upgrade rerun retry",
  destroy: "delete remove erase drop destroy purge trash uninstall unsubscribe revoke wipe clear",
};

const INTENTS: ReadonlyMap<string, Intent> = new Map(
  (["read", "write", "destroy"] as const).flatMap((intent) =>
    WORDS[intent].split(" ").map((word) => [stem(word), intent] as const),
  ),
);

/** The factor on the score of a tool whose effect differs from the intent. An unknown effect is not penalized. */
const FACTORS: Readonly<Record<Intent, Readonly<Record<Effect, number>>>> = {
  read: { read: 1, write: 0.8, destroy: 0.7, unknown: 1 },
  write: { read: 0.75, write: 1, destroy: 0.8, unknown: 1 },
  destroy: { read: 0.65, write: 0.85, destroy: 1, unknown: 1 },
};

const NEUTRAL: Readonly<Record<Effect, number>> = { read: 1, write: 1, destroy: 1, unknown: 1 };

/** The factor on the score of each effect, by the first known verb of the query: read, write or destroy. */
export function weighEffects(query: string): Readonly<Record<Effect, number>> {
  for (const word of splitWords(query)) {
    const intent = INTENTS.get(stem(word));
    if (intent) return FACTORS[intent];
  }
  return NEUTRAL;
}
