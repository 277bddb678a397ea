/** Writes a program with other texts in place of some of its literals, as the body of a function. */

import type { Program } from "../../domain/index.ts";
import { withoutInsertions } from "../edit-text.ts";

/** Offsets in the code that runs. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The likeliest text first: the author's own with its types, then the code that runs, which has spaces instead of types.
 * The first one is wrong for some programs with more than types, such as an `enum`.
 */
export function rewriteProgram(
  { checkable, javascript, insertions }: Pick<Program, "checkable" | "javascript" | "insertions">,
  replacements: readonly Replacement[],
): readonly string[] {
  const running = replace(javascript, replacements);
  const added = insertions.reduce((sum, { length }) => sum + length, 0);
  if (javascript.length - added !== checkable.length) return [running];
  const toAuthor = (offset: number): number => withoutInsertions(insertions, offset);
  const inserted = insertions.map(({ offset, length }): Replacement => {
    const at = toAuthor(offset);
    return { start: at, end: at, text: javascript.slice(offset, offset + length) };
  });
  const moved = replacements.map(({ start, end, text }) => ({
    start: toAuthor(start),
    end: toAuthor(end - 1) + 1,
    text,
  }));
  // An insertion before a literal comes before what takes its place.
  const all = [...inserted, ...moved].toSorted((a, b) => a.start - b.start || a.end - b.end);
  const own = replace(checkable, all);
  return own === running ? [running] : [own, running];
}

/** `changes` are sorted and do not overlap. */
function replace(text: string, changes: readonly Replacement[]): string {
  let [written, at] = ["", 0];
  for (const { start, end, text: other } of changes) {
    written += text.slice(at, start) + other;
    at = end;
  }
  return written + text.slice(at);
}
