/**
 * Positions of the author where an engine cannot be told where a program begins: the wrapper's head then stands on the
 * program's first line. Lines are right everywhere; columns of that line are led back here.
 */

import { PROGRAM_FILE } from "../wire.ts";

const FIRST_LINE = new RegExp(`\\b${PROGRAM_FILE.replace(".", "\\.")}:1:(\\d+)`, "g");

/**
 * A position inside the head itself is the program's beginning. `first` is the number that the engine gives to the first
 * column of the first line.
 */
export function mapFirstLine(stack: string, head: string, first = 1): string {
  const toAuthor = (column: string): number => Math.max(1, Number(column) - first - head.length + 1);
  return stack.replaceAll(FIRST_LINE, (_, column: string) => `${PROGRAM_FILE}:1:${toAuthor(column)}`);
}
