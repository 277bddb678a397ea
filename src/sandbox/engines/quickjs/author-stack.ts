/** Stack traces in the author's own positions, from what QuickJS writes. */

import { PROGRAM_HEAD } from "../../wire.ts";
import { mapFirstLine } from "../map-columns.ts";

/** What stands before the program, without a line of its own. */
export const HEAD = PROGRAM_HEAD.trimEnd();

/** QuickJS counts the columns of the first line of a text from here, and those of all others from 1. */
const FIRST_COLUMN = 0;

/** QuickJS writes frames only; the head line "name: message" is put before them, as in other engines. */
export function toAuthorStack({
  name,
  message,
  stack,
}: Readonly<Record<"name" | "message" | "stack", string>>): string {
  const frames = mapFirstLine(stack, HEAD, FIRST_COLUMN);
  return /^\s+at /.test(frames) ? `${name}: ${message}\n${frames}` : frames;
}
