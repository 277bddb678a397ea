/** Translates words of queries and texts of tools to English, by a list of frequent words. */

import { CHINESE } from "./chinese-words.ts";
import { TRANSLATIONS } from "./other-languages.ts";
import { stem } from "./split-terms.ts";

/** The letters that an inflection may add. */
const MAX_ENDING = 2;
const MIN_ROOT = 5;
/** Letters of scripts that write no spaces between words, or join words to one. */
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Computed at the first search, not at the start. */
let computedTranslations: ReadonlyMap<string, string> | undefined;
let computedRoots: ReadonlyMap<string, string> | undefined;
let computedPattern: RegExp | undefined;

/** The English terms that a word of another language stands for. */
export function translateWord(word: string): readonly string[] {
  const plain = toPlain(word);
  if (/\p{Lo}/u.test(plain)) return translateText(plain);
  const all = translations();
  for (let end = plain.length; end >= Math.max(4, plain.length - MAX_ENDING); end -= 1) {
    const english =
      all.get(plain.slice(0, end)) ?? (end >= plain.length - 1 ? roots().get(plain.slice(0, end)) : undefined);
    if (english !== undefined) return [english];
  }
  return [];
}

/** The English terms of the known words in a text without spaces; of overlapping words only the longest. */
export function translateText(text: string): readonly string[] {
  if (!UNSPACED.test(text)) return [];
  const all = translations();
  computedPattern ??= new RegExp([...all.keys()].filter(isUnspaced).toSorted(byLength).join("|"), "g");
  const found = text.match(computedPattern) ?? [];
  return found.flatMap((word) => all.get(word)?.split(" ") ?? []);
}

/** Runs of Chinese characters: what the list does not have is found by two characters that follow each other. */
const CHINESE_RUN = /[\u3400-\u9fff]{2,}/g;

/** `八字排盘` → `八字`, `字排`, `排盘`. */
export function pairsOf(text: string): readonly string[] {
  if (!UNSPACED.test(text)) return [];
  const runs = text.match(CHINESE_RUN) ?? [];
  return runs.flatMap((run) => Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)));
}

const isUnspaced = (word: string): boolean => UNSPACED.test(word);
const byLength = (a: string, b: string): number => b.length - a.length;

/** Without accents: `öffnen` → `offnen`. */
function toPlain(word: string): string {
  return word
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .normalize("NFC");
}

function translations(): ReadonlyMap<string, string> {
  computedTranslations ??= createTranslations();
  return computedTranslations;
}

function createTranslations(): ReadonlyMap<string, string> {
  const words = [...TRANSLATIONS, ...CHINESE].flatMap((line) => {
    const [english = "", others = ""] = line.split(": ");
    const stems = english.split(" ").map(stem).join(" ");
    return others.split(" ").map((other) => [toPlain(other), stems] as const);
  });
  return new Map(words);
}

/** `offne` of `offnen`: an inflection may change one letter, as `quanta` of `quanto`, and not more, as `quantum`. */
function roots(): ReadonlyMap<string, string> {
  computedRoots ??= new Map(
    [...translations()]
      .filter(([word]) => word.length > MIN_ROOT)
      .map(([word, english]) => [word.slice(0, -1), english] as const),
  );
  return computedRoots;
}
