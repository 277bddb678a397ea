/** Finds many byte strings in one pass, independent of the number of secrets and encodings. */

/** A range of the searched bytes. */
export interface NeedleMatch {
  readonly start: number;
  readonly end: number;
}

/** Finds every match of a needle; overlapping matches are joined. */
export interface NeedleIndex {
  readonly longest: number;
  readonly find: (bytes: Buffer) => readonly NeedleMatch[];
}

/** The first bytes of a needle select the candidates; no needle is shorter. */
const HEAD = 4;
const TABLE_BITS = 16;
/** Fibonacci hashing: spreads similar heads. */
const SPREAD = 0x9e_37_79_b1;

/** Ignores needles of less than four bytes. */
export function createNeedleIndex(needles: readonly Buffer[]): NeedleIndex {
  const fit = needles.filter(({ length }) => length >= HEAD);
  const byHead = Map.groupBy(fit, (needle) => needle.readInt32BE(0));
  const table = new Uint8Array(2 ** TABLE_BITS);
  for (const head of byHead.keys()) table[toSlot(head)] = 1;
  const measure = (bytes: Buffer, start: number, head: number): number => {
    const here = (byHead.get(head) ?? []).filter((needle) => isAt(bytes, start, needle));
    return here.reduce((most, { length }) => Math.max(most, length), 0);
  };
  return {
    longest: fit.reduce((most, { length }) => Math.max(most, length), 0),
    find(bytes) {
      const places: NeedleMatch[] = [];
      let head = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        head = (head << 8) | (bytes[at] ?? 0);
        const start = at - HEAD + 1;
        if (table[toSlot(head)] !== 1 || start < 0) continue;
        const length = measure(bytes, start, head);
        if (length > 0) addJoined(places, { start, end: start + length });
      }
      return places;
    },
  };
}

function toSlot(head: number): number {
  return Math.imul(head, SPREAD) >>> (32 - TABLE_BITS);
}

function isAt(bytes: Buffer, start: number, needle: Buffer): boolean {
  const end = start + needle.length;
  return end <= bytes.length && bytes.compare(needle, 0, needle.length, start, end) === 0;
}

/** Joins the range with the last one if they overlap. Call it in the order of their starts. */
export function addJoined<Range extends NeedleMatch>(ranges: Range[], range: Range): void {
  const last = ranges.at(-1);
  if (!last || range.start >= last.end) ranges.push(range);
  else ranges[ranges.length - 1] = { ...last, end: Math.max(last.end, range.end) };
}
