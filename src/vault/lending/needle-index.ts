/** Finds many byte strings in one pass, so that the number of secrets and of their writings costs nothing. */

/** A place in the searched bytes. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Finds every place where one of the needles stands; places that overlap are one. */
export interface NeedleIndex {
  readonly longest: number;
  readonly find: (bytes: Buffer) => readonly Place[];
}

/** So many bytes of a needle choose what is compared; none is shorter. */
const HEAD = 4;
const TABLE_BITS = 16;
/** Fibonacci hashing: spreads heads that differ little. */
const SPREAD = 0x9e_37_79_b1;

/** Needles of less than four bytes are not looked for. */
export function createNeedleIndex(needles: readonly Buffer[]): NeedleIndex {
  const fit = needles.filter(({ length }) => length >= HEAD);
  const byHead = Map.groupBy(fit, (needle) => needle.readInt32BE(0));
  const table = new Uint8Array(2 ** TABLE_BITS);
  for (const head of byHead.keys()) table[toSlot(head)] = 1;
  const measure = (bytes: Buffer, start: number, head: number): number => {
    const here = (byHead.get(head) ?? []).filter((needle) => standsAt(bytes, start, needle));
    return here.reduce((most, { length }) => Math.max(most, length), 0);
  };
  return {
    longest: fit.reduce((most, { length }) => Math.max(most, length), 0),
    find(bytes) {
      const places: Place[] = [];
      let head = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        head = (head << 8) | (bytes[at] ?? 0);
        const start = at - HEAD + 1;
        if (table[toSlot(head)] !== 1 || start < 0) continue;
        const length = measure(bytes, start, head);
        if (length > 0) addPlace(places, { start, end: start + length });
      }
      return places;
    },
  };
}

function toSlot(head: number): number {
  return Math.imul(head, SPREAD) >>> (32 - TABLE_BITS);
}

function standsAt(bytes: Buffer, start: number, needle: Buffer): boolean {
  const end = start + needle.length;
  return end <= bytes.length && bytes.compare(needle, 0, needle.length, start, end) === 0;
}

/** They come in the order of their starts. */
function addPlace(places: Place[], place: Place): void {
  const last = places.at(-1);
  if (!last || place.start >= last.end) places.push(place);
  else places[places.length - 1] = { start: last.start, end: Math.max(last.end, place.end) };
}
