/**
 * Stack traces in the author's own positions. QuickJS cannot be told where a program begins, so the wrapper's head
 * stands on the program's first line: lines are right everywhere, columns of that line are led back here.
 */

import { PROGRAM_FILE, PROGRAM_HEAD } from "../../wire.ts";

/** What stands before the program, without a line of its own. */
export const HEAD = PROGRAM_HEAD.trimEnd();

const FIRST_LINE = new RegExp(`\\b${PROGRAM_FILE.replace(".", "\\.")}:1:(\\d+)`, "g");

/** QuickJS writes frames only; the head line "name: message" is put before them, as in other engines. */
export function toAuthorStack({
  name,
  message,
  stack,
}: Readonly<Record<"name" | "message" | "stack", string>>): string {
  const frames = stack.replaceAll(FIRST_LINE, (_, column: string) => `${PROGRAM_FILE}:1:${toAuthorColumn(column)}`);
  return /^\s+at /.test(frames) ? `${name}: ${message}\n${frames}` : frames;
}

/** A position inside the head itself is the program's beginning. */
function toAuthorColumn(column: string): number {
  return Math.max(1, Number(column) - HEAD.length);
}
