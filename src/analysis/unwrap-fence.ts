/** Models like to answer with one fenced markdown block. The fences go, the program keeps its lines and columns. */

import { blank } from "./blank.ts";

/** `opened` is where the fence stood, or `undefined` when there was none and the text is as it came. */
export interface Unwrapped {
  readonly text: string;
  readonly opened: number | undefined;
}

const OPENING = /^\s*?(?<mark>`{3,}|~{3,})[ \t]*[\w+.#-]*[ \t]*(?=[\n\r])/u;
const CLOSING = /[\n\r][ \t]*(?<mark>`{3,}|~{3,})\s*$/u;
/** The closing fence is looked for in the tail only: a pattern tried at every line of a long text is slow. */
const TAIL_CHARS = 1_000;

/** Only a source that is one block and nothing else; with a second fence inside it is not clear what was meant. */
export function unwrapFence(source: string): Unwrapped {
  const untouched: Unwrapped = { text: source, opened: undefined };
  const opening = OPENING.exec(source);
  const tailStart = Math.max(0, source.trimEnd().length - TAIL_CHARS);
  const closing = CLOSING.exec(source.slice(tailStart));
  const mark = opening?.groups?.["mark"];
  const closingMark = closing?.groups?.["mark"];
  if (!opening || !closing || !mark || !closingMark?.startsWith(mark)) return untouched;
  const inside = source.slice(opening[0].length, tailStart + closing.index);
  if (inside.split(/[\n\r]/u).some((line) => line.trimStart().startsWith(mark))) return untouched;
  const text = blank(blank(source, 0, opening[0].length), tailStart + closing.index, source.length);
  return { text, opened: source.indexOf(mark) };
}
