/**
 * Positions: converts offsets to lines and columns, prints code frames, creates the errors that have them, and maps
 * positions in the running text back to the author's source. Lines end as in ECMAScript, because engines count them so.
 */

import { GloveboxError } from "../domain/index.ts";
import type { ErrorCode, Program } from "../domain/index.ts";
import { withoutInsertions } from "./edit-text.ts";

/** Both start at 1; columns count UTF-16 units, as engines do. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/gu;
const FRAME_CHARS = 120;
const AFTER_NEW = /(?<![\w$.#])new\s+$/u;
/** Enough for `new` and for the blanks of erased types. */
const MOST_BEFORE = 100;
/** Control characters, and characters that reorder or hide text on a screen. */
const UNPRINTABLE =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** Indexes the lines once, so that thousands of lookups are cheap. Offsets are clamped to the text. */
export function createLocator(text: string): (offset: number) => SourcePosition {
  const starts = lineStarts(text);
  return (offset) => {
    const clamped = Math.max(0, Math.min(offset, text.length));
    const line = lastAtMost(starts, clamped);
    return { line: line + 1, column: clamped - (starts[line] ?? 0) + 1 };
  };
}

/**
 * Maps a position in `program.javascript` (without the wrapper's line) to the author's source. Inside inserted text it
 * returns the position of the insertion, beyond the end the end, and right after `new` the position of `new`.
 */
export function toAuthorPosition(
  program: Pick<Program, "source" | "javascript" | "insertions">,
  line: number,
  column: number,
): SourcePosition {
  const offset = toNew(program.javascript, createOffsetFinder(program.javascript)({ line, column }));
  return createLocator(program.source)(withoutInsertions(program.insertions, offset));
}

/** For an error in a constructor call, one engine reports the position of `new`, another that of the class. */
function toNew(text: string, offset: number): number {
  const [found = ""] = AFTER_NEW.exec(text.slice(Math.max(0, offset - MOST_BEFORE), offset)) ?? [];
  return offset - found.length;
}

/** Prints three lines around a position with a caret under it; safe to print for any source. */
export function frameAt(source: string, line: number, column: number): string {
  const lines = source.split(LINE_END);
  const from = Math.max(0, column - 1 - FRAME_CHARS / 2);
  const width = String(Math.min(line + 1, lines.length)).length;
  const shown: string[] = [];
  for (let number = Math.max(1, line - 1); number <= Math.min(line + 1, lines.length); number += 1) {
    const text = toPrintable((lines[number - 1] ?? "").slice(from, from + FRAME_CHARS));
    shown.push(`${number === line ? ">" : " "} ${String(number).padStart(width)} | ${text}`.trimEnd());
    if (number === line) shown.push(`  ${" ".repeat(width)} | ${caretUnder(text, column - 1 - from)}`);
  }
  return shown.join("\n");
}

/** Replaces unprintable characters one by one, so that columns stay aligned; tabs are kept. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, " ").toWellFormed();
}

function caretUnder(text: string, index: number): string {
  const lead = text.slice(0, index).replace(/[^\t]/gu, " ");
  return `${lead.padEnd(index)}^`;
}

/** The inverse of `createLocator`. Positions beyond the text are clamped to it. */
export function createOffsetFinder(text: string): (position: SourcePosition) => number {
  const starts = lineStarts(text);
  return ({ line, column }) => {
    const start = starts[line - 1];
    if (start === undefined) return line < 1 ? 0 : text.length;
    return Math.min(start + Math.max(0, column - 1), text.length);
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (const match of text.matchAll(LINE_END)) starts.push(match.index + match[0].length);
  return starts;
}

/** The index of the last start that is not past `offset`; `starts` ascends and begins with 0. */
function lastAtMost(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

const MESSAGE_CHARS = 240;

/** What is wrong and where; `offset` is in the author's source. */
export interface SourceComplaint {
  readonly message: string;
  readonly offset: number;
  readonly hint: string;
}

/**
 * Creates the error to throw. Messages may quote the source (names of any length, control characters), so they are
 * cleaned and shortened here.
 */
export function refuse(code: ErrorCode, source: string, complaint: SourceComplaint): GloveboxError {
  const { line, column } = createLocator(source)(complaint.offset);
  return new GloveboxError(code, cutMessage(complaint.message), {
    hint: complaint.hint,
    line,
    column,
    frame: frameAt(source, line, column),
  });
}

/** One printable line of bounded length. */
export function cutMessage(message: string): string {
  const line = toPrintable(message.replaceAll("\t", " "));
  return line.length > MESSAGE_CHARS ? `${line.slice(0, MESSAGE_CHARS - 1).toWellFormed()}…` : line;
}
