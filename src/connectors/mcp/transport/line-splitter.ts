/** Cuts a byte stream into lines without ever holding more than the permitted length of one. */

const NEWLINE = 0x0a;

export interface LineSplitter {
  /** Returns the lines that this chunk completes. After an overflow there are none any more. */
  push(chunk: Buffer): readonly string[];
  /** What came after the last newline. */
  rest(): string;
  /** True once a line was longer than allowed; the stream cannot be trusted to be in step again. */
  isOverflown(): boolean;
}

/**
 * Counts before it joins: pieces are kept as they came and glued once, when their newline arrives, so an endless
 * line costs `maxBytes` and no more, and a long one is not copied again with every chunk.
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
