/** Changes a program's text so that every position can be mapped back: text is inserted and remembered, or blanked. */

import type { Program } from "../domain/index.ts";

/** Inserted text, kept so that positions can be mapped back to the author's source. */
export type Insertion = Program["insertions"][number];

/** The text after insertions. `insertions` are sorted; their offsets are in this text. */
export interface EditedText {
  readonly javascript: string;
  readonly insertions: readonly Insertion[];
}

/** Text to insert before the character at `at`. */
export interface Edit {
  readonly at: number;
  readonly text: string;
}

/** `edits` must be sorted by offset. */
export function insert(text: string, edits: readonly Edit[]): EditedText {
  let javascript = "";
  let from = 0;
  const insertions: Insertion[] = [];
  for (const edit of edits) {
    javascript += text.slice(from, edit.at);
    insertions.push({ offset: javascript.length, length: edit.text.length });
    javascript += edit.text;
    from = edit.at;
  }
  return { javascript: javascript + text.slice(from), insertions };
}

/** Merges two rounds of insertions: the first into the author's text, the second into the result of the first. */
export function joinInsertions(first: readonly Insertion[], second: readonly Insertion[]): readonly Insertion[] {
  const moved = first.flatMap(({ offset, length }) => splitAround({ offset, length }, second));
  return [...moved, ...second].toSorted((a, b) => a.offset - b.offset);
}

/** Moves an earlier insertion behind later ones; a later one inside it splits it in two. */
function splitAround({ offset, length }: Insertion, later: readonly Insertion[]): readonly Insertion[] {
  const parts: Insertion[] = [];
  let [at, left] = [offset, length];
  for (const each of later) {
    if (each.offset <= at) at += each.length;
    else if (each.offset < at + left) {
      const head = each.offset - at;
      parts.push({ offset: at, length: head });
      [at, left] = [each.offset + each.length, left - head];
    } else break;
  }
  return [...parts, { offset: at, length: left }];
}

/** Maps an offset back to the text before the insertions; inside an insertion, to its position. */
export function withoutInsertions(insertions: readonly Insertion[], offset: number): number {
  let shift = 0;
  for (const insertion of insertions) {
    if (offset < insertion.offset) break;
    if (offset < insertion.offset + insertion.length) return insertion.offset - shift;
    shift += insertion.length;
  }
  return offset - shift;
}

/** Replaces everything from `start` to `end` by spaces, except line ends. */
export function blank(text: string, start: number, end: number): string {
  return blankAll(text, [[start, end]]);
}

/** A hashbang is valid only at the start of a file, and a running program is not a file. */
export function blankHashbang(text: string): string {
  const start = text.search(/\S/u);
  if (start < 0 || !text.startsWith("#!", start)) return text;
  const length = text.slice(start).search(/[\n\r\u2028\u2029]/u);
  return blank(text, start, length < 0 ? text.length : start + length);
}

/** Blanks many sorted ranges in one pass; one copy of a long text per range would be slow. */
export function blankAll(text: string, ranges: readonly (readonly [from: number, to: number])[]): string {
  let [blanked, at] = ["", 0];
  for (const [from, to] of ranges) {
    blanked += text.slice(at, from) + text.slice(from, to).replace(/[^\n\r\u2028\u2029]/g, " ");
    at = to;
  }
  return blanked + text.slice(at);
}
