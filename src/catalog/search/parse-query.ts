/** Parses a query into words without stop words, each with synonyms, translations and corrections of typos. */

import { INTENTS } from "./intents.ts";
import { LIFE_TOPICS } from "./life-topics.ts";
import { PHRASES } from "./phrases.ts";
import { splitWords, stem } from "./split-terms.ts";
import { STOP_WORDS, SYNONYM_GROUPS } from "./synonyms.ts";
import { TOPICS } from "./topics.ts";
import { pairsOf, translateWord } from "./translate.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { WORK_TOPICS } from "./work-topics.ts";

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
const NEAR_WEIGHT = 0.6;
/** An everyday word that asks for the words of tools. */
const TOPIC_WEIGHT = 0.6;
const SIMILAR_WEIGHT = 0.8;
const PREFIX_WEIGHT = 0.7;
const GUESSED_SYNONYM = 0.8;
const TRANSLATED_WEIGHT = 0.9;
/** The pairs of characters of a word in Chinese. */
const PAIRS_WEIGHT = 0.9;
/** A name that shares most of its letters with a word of another language. */
const ALIKE_WEIGHT = 0.6;
const MEANT_WEIGHT = 0.7;
const LITERAL_WEIGHT = 0.5;
const MIN_SPLIT_LENGTH = 6;
/** Shorter words are too often similar to an unrelated one. */
const MIN_TYPO_LENGTH = 4;
const JOINED_WEIGHT = 0.5;

/**
 * What stands for a value of the task. Its own words do not describe a tool (`example.com` looks like the beginning of
 * one), but its kind does. `term` is the word of tools that take such a value.
 */
const LITERALS: readonly { readonly pattern: RegExp; readonly kind: string; readonly term?: string }[] = [
  { pattern: /[\w.+-]{1,64}@[\w.-]{1,255}/g, kind: "#mail" },
  { pattern: /\bhttps?:\/\/\S{1,500}/gi, kind: "#url", term: "url" },
  { pattern: /\b[\w-]{1,64}\.(?:com|org|net|io|dev|edu|gov|app)\b(?:\/\S{0,500})?/gi, kind: "#url", term: "url" },
  { pattern: /(?<![\w:/.-])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.-]{1,128}){2,16}[/\\]?/g, kind: "#file", term: "file" },
  {
    pattern:
      /[\w-]{0,64}\.(?:txt|md|json|jsonl|ya?ml|csv|tsv|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|html?|css|jsx?|tsx?|py|rs|java|sh|log|xml|toml|ini|env|zip|gz|tar|mp[34]|wav)\b/gi,
    kind: "#file",
    term: "file",
  },
  { pattern: /\b\d{1,2}(?::\d\d)? ?(?:am|pm|uhr|h)\b|\b\d{1,2}:\d\d\b/gi, kind: "#clock" },
  { pattern: /(?<![\w-])\d+(?:\.\d+)?(?![\w-])/g, kind: "#number" },
];

/** Verbs of nearly every request: in a sentence, the other words describe the task. */
const LIGHT_VERBS: ReadonlySet<string> = new Set(
  "put get take bring make have go come see show tell look find need want let know say think try work happen set do"
    .split(" ")
    .map(stem),
);
const LIGHT_WEIGHT = 0.5;

/** The words of a sentence that begin with a capital letter, except the first: names of people and places. */
function namesIn(text: string): ReadonlySet<string> {
  if (!/[a-z] [a-z]/.test(text)) return new Set();
  return new Set(Array.from(text.matchAll(/(?<=[a-z,] )[A-Z][a-z]+\b/g), ([name]) => name.toLowerCase()));
}

/** Kinds whose text is kept as words, too: numbers are part of names. */
const KEPT_KINDS: ReadonlySet<string> = new Set(["#number", "#clock"]);

/** Computed at the first search, not at the start. */
let computed: ReadonlyMap<string, readonly Alternative[]> | undefined;
let computedIntents: readonly { readonly groups: readonly ReadonlySet<string>[]; readonly means: readonly string[] }[];

/** `vocabulary` has the terms of the index: only an unknown word can be a typo, a prefix or two joined words. */
export function parseQuery(text: string, vocabulary: Vocabulary): readonly QueryWord[] {
  const { rest, kinds } = takeLiterals(replacePhrases(text));
  const names = namesIn(rest);
  const all = splitWords(rest);
  const words = all.filter((word) => word.length > 1 || /[\d\p{Lo}]/u.test(word));
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const chosen = (telling.length > 0 || kinds.length > 0 ? telling : words).slice(0, MAX_WORDS);
  const used = chosen.map(stem);
  const joined = used.slice(1).map((term, at) => `${used[at]}${term}`);
  const known = joined.filter((term) => vocabulary.has(term));
  const pairs = used.slice(1).flatMap((term, at) => related().get(`${used[at]} ${term}`) ?? []);
  const translated = new Map(chosen.map((word) => [word, isKnown(word, vocabulary) ? [] : translateWord(word)]));
  const isForeign = [...translated.values()].some((terms) => terms.length > 0);
  const singles = [...new Map(chosen.map((word) => [stem(word), word]))].map(([term, word]) => {
    const terms = translated.get(word) ?? [];
    const twos = pairsOf(word).slice(0, MAX_WORDS);
    const parts = twos.length > 0 ? [{ terms: twos, weight: PAIRS_WEIGHT }] : [];
    if (terms.length > 0) return [...toTranslated(terms), ...parts];
    const wanted = toWanted(word, vocabulary, { isName: names.has(word), isForeign });
    if (parts.length > 0) return [...wanted, ...parts];
    return LIGHT_VERBS.has(term) ? wanted.map((one) => ({ ...one, weight: one.weight * LIGHT_WEIGHT })) : wanted;
  });
  return [
    ...singles,
    ...[...new Set(known)].map((term) => [{ terms: [term], weight: JOINED_WEIGHT }]),
    ...pairs.map((one) => [one]),
    ...toMeant(new Set([...all.map(stem), ...kinds.map(({ kind }) => kind), ...[...translated.values()].flat()]), used),
    ...kinds.flatMap(({ term }) => (term === undefined ? [] : [[{ terms: [stem(term)], weight: LITERAL_WEIGHT }]])),
  ];
}

/** A query of which nothing would be left is kept. */
export function replacePhrases(text: string): string {
  const replaced = PHRASES.reduce((rest, [pattern, meaning]) => rest.replaceAll(pattern, ` ${meaning} `), text);
  return replaced.trim() === "" ? text : replaced;
}

function takeLiterals(text: string): { readonly rest: string; readonly kinds: readonly (typeof LITERALS)[number][] } {
  let rest = text;
  const kinds = LITERALS.filter(({ pattern, kind }) => {
    const without = rest.replace(pattern, KEPT_KINDS.has(kind) ? "$& " : " ");
    const isThere = without !== rest;
    rest = without;
    return isThere;
  });
  return { rest, kinds };
}

/** The words of tools that do what the query asks for, each once; words that the query has itself are not repeated. */
function toMeant(present: ReadonlySet<string>, used: readonly string[]): readonly QueryWord[] {
  const meant = new Set<string>();
  for (const { groups, means } of intents()) {
    if (groups.every((group) => !group.isDisjointFrom(present))) for (const term of means) meant.add(term);
  }
  for (const term of used) meant.delete(term);
  return [...meant].map((term) => [{ terms: [term], weight: MEANT_WEIGHT }]);
}

function intents(): typeof computedIntents {
  computedIntents ??= INTENTS.map(({ groups, means }) => ({
    groups: groups.map((group) => new Set(group.split(" ").map(stem))),
    means: means.split(" ").map(stem),
  }));
  return computedIntents;
}

/** If a tool or a synonym has the word itself, it is not translated. Pairs of Chinese characters are not words. */
function isKnown(word: string, vocabulary: Vocabulary): boolean {
  const term = stem(word);
  if (pairsOf(word).length > 0) return false;
  return vocabulary.has(term) || related().has(term);
}

function toTranslated(terms: readonly string[]): QueryWord {
  return terms.flatMap((term) => {
    const near = (related().get(term) ?? []).map((one) => ({ ...one, weight: one.weight * TRANSLATED_WEIGHT }));
    return [{ terms: [term], weight: TRANSLATED_WEIGHT }, ...near];
  });
}

/** In a query of another language an unknown word is seldom a typo, and often like the name of the same thing. */
function toWanted(
  word: string,
  vocabulary: Vocabulary,
  { isName, isForeign }: { readonly isName: boolean; readonly isForeign: boolean },
): QueryWord {
  const term = stem(word);
  const itself = { terms: [term], weight: 1 };
  const near = related().get(term) ?? related().get(term.replace(/s$/, "")) ?? [];
  if (vocabulary.has(term)) return [itself, ...near];
  const guessed = isForeign || isName ? [] : guess(word, vocabulary, near.length > 0);
  // The correction of a typo has synonyms too, which are one step further away.
  const meant = guessed.flatMap(({ terms, weight }) =>
    terms.flatMap((one) =>
      (related().get(one) ?? []).map((other) => ({ ...other, weight: GUESSED_SYNONYM * other.weight * weight })),
    ),
  );
  const isLost = near.length === 0 && guessed.length === 0;
  const alike = isLost ? vocabulary.findAlike(term).map((one) => ({ terms: [one], weight: ALIKE_WEIGHT })) : [];
  return [itself, ...near, ...guessed, ...meant, ...alike];
}

/** `reassign`, `resend`, `subfolder`. */
const PREFIXED = /^(?:re|sub)(\w{3,})$/u;

/** A word that has synonyms is not a typo of another one: `stay` is not `stat`. */
function guess(word: string, vocabulary: Vocabulary, isWord: boolean): readonly Alternative[] {
  const term = stem(word);
  // A whole word is not the beginning of another one: `station` is not short for `status`.
  const longer = vocabulary.findLonger(word);
  const similar = word.length >= MIN_TYPO_LENGTH && !isWord ? vocabulary.findSimilar(term) : [];
  const [, root = ""] = PREFIXED.exec(term) ?? [];
  return [
    ...longer.map((one) => ({ terms: [one], weight: PREFIX_WEIGHT * Math.sqrt(term.length / one.length) })),
    ...similar.map((one) => ({ terms: [one], weight: SIMILAR_WEIGHT })),
    ...splitInTwo(term, vocabulary),
    ...(root !== "" && vocabulary.has(root) ? [{ terms: [root], weight: SIMILAR_WEIGHT }] : []),
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
  for (const line of [...TOPICS, ...WORK_TOPICS, ...LIFE_TOPICS]) {
    const [asked = [], words = []] = line.split(": ").map((part) => part.split(" ").map(stem));
    for (const word of words) {
      const own = related.get(word) ?? new Map<string, number>();
      related.set(word, own);
      for (const other of asked) if (other !== word) own.set(other, Math.max(TOPIC_WEIGHT, own.get(other) ?? 0));
    }
  }
  return new Map([...related].map(([word, own]) => [word, toAlternatives(own)]));
}

function toAlternatives(own: ReadonlyMap<string, number>): readonly Alternative[] {
  return [...own].map(([other, weight]) => ({ terms: other.split(" "), weight }));
}
