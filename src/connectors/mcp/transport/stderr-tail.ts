/** The last output of a child server, for the operator who has to find out why it fails. */

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";
import { createLineSplitter } from "./line-splitter.ts";
import type { LineSplitter } from "./line-splitter.ts";

const MAX_LINES = 100;
const MAX_LINE_BYTES = 500;
/** Longer than a shown line, so that an ordinary long line is cut and not dropped. */
const MAX_RAW_LINE_BYTES = 64 * 1024;

export interface StderrTail {
  push(chunk: Buffer): void;
  /** At most 100 lines, oldest first, cleaned and cut to 500 bytes each. */
  lines(): readonly string[];
}

/**
 * Skips empty lines. Includes an unfinished last line, because a crash often leaves one. Drops a line of more than 64
 * KiB together with the rest of its chunk.
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
