/** Splits a byte stream into lines and never holds more than the maximum length of one. */

const NEWLINE = 0x0a;

export interface LineSplitter {
  /** Returns the lines that this chunk completes. Returns none after an overflow. */
  push(chunk: Buffer): readonly string[];
  /** The bytes after the last newline. */
  rest(): string;
  /** True once a line was too long; the stream cannot be parsed any further. */
  isOverflown(): boolean;
}

/**
 * Keeps the pieces of a line and joins them once, at the newline. So an endless line costs at most `maxBytes`, and a
 * long one is not copied with every chunk.
 */
export function createLineSplitter(maxBytes: number): LineSplitter {
  let pieces: Buffer[] = [];
  let length = 0;
  let overflown = false;

  function add(piece: Buffer): boolean {
    length += piece.length;
    overflown = length > maxBytes;
    if (overflown) pieces = [];
    else pieces.push(piece);
    return !overflown;
  }

  function take(): string {
    const [only] = pieces;
    const line = (only && pieces.length === 1 ? only : Buffer.concat(pieces)).toString("utf8");
    pieces = [];
    length = 0;
    return line;
  }

  return {
    push(chunk) {
      const lines: string[] = [];
      let start = 0;
      while (!overflown) {
        const end = chunk.indexOf(NEWLINE, start);
        if (!add(chunk.subarray(start, end === -1 ? chunk.length : end)) || end === -1) break;
        lines.push(take());
        start = end + 1;
      }
      return lines;
    },
    rest: () => Buffer.concat(pieces).toString("utf8"),
    isOverflown: () => overflown,
  };
}
