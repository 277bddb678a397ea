/** The words of an index, with corrections of typos and completions of prefixes. */

/** Of a stem. */
const MIN_LENGTH = 3;
const LONG_LENGTH = 8;
const MAX_LENGTH = 32;
const MAX_SIMILAR = 3;
const MIN_BEGINNING = 3;
const MAX_LONGER = 8;

export interface Vocabulary {
  has(term: string): boolean;
  /** Returns the nearest words with few letters changed, removed, added or swapped: at most three. */
  findSimilar(word: string): readonly string[];
  /** Returns words with this prefix, at most eight. */
  findLonger(beginning: string): readonly string[];
}

/** Words of one length, with the letters of each as a bit set. */
interface LengthGroup {
  readonly terms: readonly string[];
  readonly letters: Int32Array;
}

/** Groups words by length, so that most of them are skipped without a comparison. */
export function createVocabulary(words: Iterable<string>): Vocabulary {
  const sorted = [...words].toSorted();
  const known = new Set(sorted);
  const shelves = new Map(
    [...Map.groupBy(sorted, (term) => term.length)].map(([length, terms]): [number, LengthGroup] => {
      return [length, { terms, letters: Int32Array.from(terms, lettersOf) }];
    }),
  );

  function findSimilar(word: string): readonly string[] {
    if (word.length < MIN_LENGTH || word.length > MAX_LENGTH) return [];
    const most = word.length >= LONG_LENGTH ? 2 : 1;
    const near: SimilarTerm[] = [];
    for (let length = Math.max(MIN_LENGTH, word.length - most); length <= word.length + most; length += 1) {
      const shelf = shelves.get(length);
      if (shelf) near.push(...findOn(shelf, word, most));
    }
    return nearestOf(near);
  }

  function findLonger(beginning: string): readonly string[] {
    if (beginning.length < MIN_BEGINNING) return [];
    const from = findPlace(sorted, beginning);
    return sorted.slice(from, from + MAX_LONGER).filter((term) => term.startsWith(beginning));
  }

  return { has: (term) => known.has(term), findSimilar, findLonger };
}

function findOn({ terms, letters }: LengthGroup, word: string, most: number): readonly SimilarTerm[] {
  const own = lettersOf(word);
  const near: SimilarTerm[] = [];
  for (let at = 0; at < terms.length; at += 1) {
    if (bitsOf((letters[at] ?? 0) ^ own) > 2 * most) continue;
    const term = terms[at] ?? "";
    const distance = distanceOf(word, term, most);
    if (distance <= most) near.push({ term, distance: distance + (term[0] === word[0] ? 0 : 0.5) });
  }
  return near;
}

/** Binary search for the position of `word`. */
function findPlace(sorted: readonly string[], word: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? "") < word) from = middle + 1;
    else to = middle;
  }
  return from;
}

interface SimilarTerm {
  readonly term: string;
  readonly distance: number;
}

function nearestOf(near: readonly SimilarTerm[]): readonly string[] {
  const least = near.reduce((best, { distance }) => Math.min(best, distance), Infinity);
  const nearest = near.filter(({ distance }) => distance === least).map(({ term }) => term);
  return nearest.toSorted().slice(0, MAX_SIMILAR);
}

/** Returns the set of letters, one bit each. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function bitsOf(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Optimal string alignment distance (counts a swap as one edit); stops as soon as a whole row is above `most`. */
function distanceOf(a: string, b: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : changed;
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > most) return Infinity;
    [before, row] = [row, next];
  }
  return row[b.length] ?? Infinity;
}
