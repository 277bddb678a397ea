/**
 * Positions of the author where an engine cannot be told where a program begins: the wrapper's head then stands on the
 * program's first line. Lines are right everywhere; columns of that line are led back here.
 */

import { PROGRAM_FILE } from "../wire.ts";

const FIRST_LINE = new RegExp(`\\b${PROGRAM_FILE.replace(".", "\\.")}:1:(\\d+)`, "g");

/** A position inside the head itself is the program's beginning. */
export function leadBack(stack: string, head: string): string {
  return stack.replaceAll(
    FIRST_LINE,
    (_, column: string) => `${PROGRAM_FILE}:1:${Math.max(1, Number(column) - head.length)}`,
  );
}
