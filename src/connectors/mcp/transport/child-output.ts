/** The lines that a child server writes: split, filtered before they are parsed, and kept for the operator. */

import { StringDecoder } from "node:string_decoder";

import type { Instant } from "../../../domain/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";

const NEWLINE = 0x0a;

/**
 * Decodes the pieces of a line as they come and joins them once, at the newline. So an endless line costs at most
 * `maxBytes`, and the end of a long one is not the work of decoding all of it.
 */
export function createLineSplitter(maxBytes: number) {
  const decoder = new StringDecoder("utf8");
  let pieces: string[] = [];
  let length = 0;
  let overflown = false;

  function add(piece: Buffer): boolean {
    length += piece.length;
    overflown = length > maxBytes;
    if (overflown) pieces = [];
    else pieces.push(decoder.write(piece));
    return !overflown;
  }

  function take(): string {
    const line = pieces.join("") + decoder.end();
    pieces = [];
    length = 0;
    return line;
  }

  return {
    /** Returns the lines that this chunk completes. Returns none after an overflow. */
    push(chunk: Buffer): readonly string[] {
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
    /** What follows the last newline. */
    rest: () => pieces.join(""),
    /** True once a line was too long; the stream cannot be parsed any further. */
    isOverflown: () => overflown,
  };
}

const MAX_LINES = 100;
const MAX_LINE_BYTES = 500;
/** Longer than a shown line, so that an ordinary long line is cut and not dropped. */
const MAX_RAW_LINE_BYTES = 64 * 1024;

/**
 * The last output of a child server, for the operator who has to find out why it fails. Skips empty lines. Includes an
 * unfinished last line, because a crash often leaves one. Drops a line of more than 64 KiB with the rest of its chunk.
 */
export function createStderrTail(clean: TextCleaner) {
  const isTelling = (line: string): boolean => line.trim() !== "";
  const kept: string[] = [];
  let splitter = createLineSplitter(MAX_RAW_LINE_BYTES);

  return {
    push(chunk: Buffer): void {
      kept.push(...splitter.push(chunk).filter(isTelling).slice(-MAX_LINES));
      kept.splice(0, kept.length - MAX_LINES);
      if (splitter.isOverflown()) splitter = createLineSplitter(MAX_RAW_LINE_BYTES);
    },
    /** At most 100 lines, oldest first, cleaned and cut to 500 bytes each. */
    lines(): readonly string[] {
      const all = [...kept, splitter.rest()].filter(isTelling).slice(-MAX_LINES);
      return all.map((line) => toShownText(line.trimEnd(), clean, MAX_LINE_BYTES));
    },
  };
}

const WINDOW_MS = 100;
/** Per window: a thousand per second, more than any honest server sends. */
const NOTICES = 100;
/** A separate budget, so that a flood of progress does not hide a change of tools. */
const CHANGES = 10;

/**
 * Decides which lines are parsed. Notifications are the only messages that a server may send unrequested, so a flood of
 * them must cost little: those over the budget are dropped unparsed. Answers and requests have an `id` and always pass.
 */
export function createNoticeBudget(now: () => Instant): (line: string) => boolean {
  let windowEnd = Number.NEGATIVE_INFINITY;
  let notices = 0;
  let changes = 0;
  return (line) => {
    if (line.includes('"id"')) return true;
    const at = now();
    if (at >= windowEnd || at < windowEnd - WINDOW_MS) {
      windowEnd = at + WINDOW_MS;
      notices = 0;
      changes = 0;
    }
    if (notices < NOTICES) return (notices += 1) > 0;
    return line.includes("list_changed") && changes < CHANGES && (changes += 1) > 0;
  };
}
