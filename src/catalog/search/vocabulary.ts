/** The words of an index, with corrections of typos and completions of prefixes. */

const MIN_LENGTH = 3;
const LONG_LENGTH = 8;
const MAX_LENGTH = 32;
const MAX_SIMILAR = 3;
const MIN_BEGINNING = 3;
const MAX_LONGER = 8;
const MIN_TRIPLETS = 3;
const MIN_SHARE = 0.5;

export type Vocabulary = ReturnType<typeof createVocabulary>;

/** `names` are the words of names, which are the only ones that words of other languages are compared with. */
export function createVocabulary(words: Iterable<string>, names: ReadonlySet<string>) {
  const sorted = [...words].toSorted();
  const known = new Set(sorted);
  const entries = sorted.map((term) => ({ term, letters: lettersOf(term) }));
  const byLength = Map.groupBy(entries, ({ term }) => term.length);

  /** Returns the nearest words with few letters changed, removed, added or swapped. */
  function findSimilar(word: string): readonly string[] {
    if (word.length < MIN_LENGTH || word.length > MAX_LENGTH) return [];
    const most = word.length >= LONG_LENGTH ? 2 : 1;
    const own = lettersOf(word);
    let [nearest, least]: [string[], number] = [[], Infinity];
    for (let length = Math.max(MIN_LENGTH, word.length - most); length <= word.length + most; length += 1) {
      for (const { term, letters } of byLength.get(length) ?? []) {
        if (countBits(letters ^ own) > 2 * most) continue;
        const distance = distanceOf(word, term, most) + (term[0] === word[0] ? 0 : 0.5);
        if (distance < least) [nearest, least] = [[], distance];
        if (distance === least && distance < Infinity) nearest.push(term);
      }
    }
    return nearest.toSorted().slice(0, MAX_SIMILAR);
  }

  function findLonger(beginning: string): readonly string[] {
    if (beginning.length < MIN_BEGINNING) return [];
    const from = sorted.findIndex((term) => term >= beginning);
    return from < 0 ? [] : sorted.slice(from, from + MAX_LONGER).filter((term) => term.startsWith(beginning));
  }

  /** Returns the words of names that share most of their letters in the same order, as in related languages. */
  function findAlike(word: string): readonly string[] {
    const own = tripletsOf(word.slice(0, MAX_LENGTH));
    if (own.size < MIN_TRIPLETS) return [];
    byTriplet ??= groupByTriplet([...names].toSorted());
    const shared = new Map<string, number>();
    for (const triplet of own) {
      for (const term of byTriplet.get(triplet) ?? []) shared.set(term, (shared.get(term) ?? 0) + 1);
    }
    return [...shared]
      .map(([term, count]) => ({ term, share: (2 * count) / (own.size + tripletsOf(term).size) }))
      .filter(({ share }) => share >= MIN_SHARE)
      .toSorted((a, b) => b.share - a.share)
      .slice(0, MAX_SIMILAR)
      .map(({ term }) => term);
  }
  let byTriplet: ReadonlyMap<string, readonly string[]> | undefined;

  return { has: (term: string) => known.has(term), findSimilar, findLonger, findAlike };
}

function tripletsOf(word: string): ReadonlySet<string> {
  return new Set(Array.from({ length: Math.max(0, word.length - 2) }, (_, at) => word.slice(at, at + 3)));
}

function groupByTriplet(words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const word of words) {
    for (const triplet of tripletsOf(word.slice(0, MAX_LENGTH))) {
      const group = groups.get(triplet);
      if (group) group.push(word);
      else groups.set(triplet, [word]);
    }
  }
  return groups;
}

/** Which letters occur, one bit each: nearly all words are skipped by it without a comparison. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function countBits(value: number): number {
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
  const distance = row[b.length] ?? Infinity;
  return distance > most ? Infinity : distance;
}
