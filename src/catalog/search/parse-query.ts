/** Parses a query into words without stop words, each with synonyms and corrections of typos. */

import { splitWords, stem } from "./split-terms.ts";
import { STOP_WORDS, SYNONYM_GROUPS } from "./synonyms.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** One alternative for a word of the query; all of its terms together have this weight. */
export interface Alternative {
  readonly terms: readonly string[];
  readonly weight: number;
}

/** One word of the query with all alternatives; the first is the word itself. */
export type QueryWord = readonly Alternative[];

/** Further words are ignored: they make a query slower, not better. */
const MAX_WORDS = 24;
const EQUAL_WEIGHT = 0.85;
const NEAR_WEIGHT = 0.5;
const SIMILAR_WEIGHT = 0.8;
const PREFIX_WEIGHT = 0.7;
const MIN_SPLIT_LENGTH = 6;
/** Shorter words are too often similar to an unrelated one. */
const MIN_TYPO_LENGTH = 4;
const JOINED_WEIGHT = 0.5;

/** Email addresses do not describe a tool, and `example.com` looks like the beginning of words. */
const MAIL_ADDRESS = /[\w.+-]{1,64}@[\w.-]{1,255}/g;

/** Computed at the first search, not at the start. */
let computed: ReadonlyMap<string, readonly Alternative[]> | undefined;

/** `vocabulary` has the terms of the index: only an unknown word can be a typo, a prefix or two joined words. */
export function parseQuery(text: string, vocabulary: Vocabulary): readonly QueryWord[] {
  const words = splitWords(text.replaceAll(MAIL_ADDRESS, " ")).filter(
    (word) => word.length > 1 || /[\d\p{Lo}]/u.test(word),
  );
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const chosen = (telling.length > 0 ? telling : words).slice(0, MAX_WORDS);
  const used = chosen.map(stem);
  const joined = used.slice(1).map((term, at) => `${used[at]}${term}`);
  const known = joined.filter((term) => vocabulary.has(term));
  const pairs = used.slice(1).flatMap((term, at) => related().get(`${used[at]} ${term}`) ?? []);
  const singles = [...new Map(chosen.map((word) => [stem(word), word]))].map(([term, word]) =>
    toWanted(term, vocabulary, word.length >= MIN_TYPO_LENGTH),
  );
  return [
    ...singles,
    ...[...new Set(known)].map((term) => [{ terms: [term], weight: JOINED_WEIGHT }]),
    ...pairs.map((one) => [one]),
  ];
}

function toWanted(term: string, vocabulary: Vocabulary, mayBeTypo: boolean): QueryWord {
  const itself = { terms: [term], weight: 1 };
  const near = related().get(term) ?? related().get(term.replace(/s$/, "")) ?? [];
  if (vocabulary.has(term)) return [itself, ...near];
  const guessed = guess(term, vocabulary, mayBeTypo);
  // The correction of a typo has synonyms too; their weight is reduced by the same factor.
  const meant = guessed.flatMap(({ terms, weight }) =>
    terms.flatMap((one) => (related().get(one) ?? []).map((other) => ({ ...other, weight: other.weight * weight }))),
  );
  return [itself, ...near, ...guessed, ...meant];
}

function guess(term: string, vocabulary: Vocabulary, mayBeTypo: boolean): readonly Alternative[] {
  const longer = vocabulary.findLonger(term);
  const similar = mayBeTypo ? vocabulary.findSimilar(term) : [];
  return [
    ...longer.map((one) => ({ terms: [one], weight: PREFIX_WEIGHT * Math.sqrt(term.length / one.length) })),
    ...similar.map((one) => ({ terms: [one], weight: SIMILAR_WEIGHT })),
    ...splitInTwo(term, vocabulary),
  ];
}

/** `listissues` → `list` and `issue`. */
function splitInTwo(term: string, vocabulary: Vocabulary): readonly Alternative[] {
  if (term.length < MIN_SPLIT_LENGTH) return [];
  for (let at = term.length - 3; at >= 3; at -= 1) {
    const [left, right] = [stem(term.slice(0, at)), stem(term.slice(at))];
    if (vocabulary.has(left) && vocabulary.has(right)) return [{ terms: [left, right], weight: SIMILAR_WEIGHT }];
  }
  return [];
}

function related(): ReadonlyMap<string, readonly Alternative[]> {
  computed ??= toRelated();
  return computed;
}

/** Keyed by a stem or by two stems. If two groups relate the same words, the larger weight is used. */
function toRelated(): ReadonlyMap<string, readonly Alternative[]> {
  const related = new Map<string, Map<string, number>>();
  for (const { words, isNear } of SYNONYM_GROUPS) {
    const stems = words.map((word) => word.split(" ").map(stem).join(" "));
    for (const word of stems) {
      const own = related.get(word) ?? new Map<string, number>();
      related.set(word, own);
      const weight = isNear ? NEAR_WEIGHT : EQUAL_WEIGHT;
      for (const other of stems) if (other !== word) own.set(other, Math.max(weight, own.get(other) ?? 0));
    }
  }
  return new Map([...related].map(([word, own]) => [word, toAlternatives(own)]));
}

function toAlternatives(own: ReadonlyMap<string, number>): readonly Alternative[] {
  return [...own].map(([other, weight]) => ({ terms: other.split(" "), weight }));
}
