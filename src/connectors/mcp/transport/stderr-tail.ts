/** The last words of a child server, for the person who has to find out why it does not work. */

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";
import { createLineSplitter } from "./line-splitter.ts";
import type { LineSplitter } from "./line-splitter.ts";

const MAX_LINES = 100;
const MAX_LINE_BYTES = 500;
/** Longer than shown, so that an ordinary long line is cut and not lost. */
const MAX_RAW_LINE_BYTES = 64 * 1024;

export interface StderrTail {
  push(chunk: Buffer): void;
  /** At most 100 lines, oldest first, cleaned and cut to 500 bytes each. */
  lines(): readonly string[];
}

/**
 * Empty lines are left out; an unfinished last line counts, because a crash often leaves one.
 * A line of more than 64 KiB is dropped together with the rest of its chunk.
 */
export function createStderrTail(clean: TextCleaner): StderrTail {
  const kept: string[] = [];
  let splitter: LineSplitter = createLineSplitter(MAX_RAW_LINE_BYTES);

  return {
    push(chunk) {
      kept.push(...splitter.push(chunk).filter(isTelling).slice(-MAX_LINES));
      kept.splice(0, kept.length - MAX_LINES);
      if (splitter.isOverflown()) splitter = createLineSplitter(MAX_RAW_LINE_BYTES);
    },
    lines() {
      const all = [...kept, splitter.rest()].filter(isTelling).slice(-MAX_LINES);
      return all.map((line) => toShownText(line.trimEnd(), clean, MAX_LINE_BYTES));
    },
  };
}

function isTelling(line: string): boolean {
  return line.trim() !== "";
}
