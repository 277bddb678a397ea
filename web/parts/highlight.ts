/** Colors a program. Loaded with the first program that is shown, because the parser is the largest part of the page. */

import { classHighlighter, highlightCode } from "@lezer/highlight";
import { parser } from "@lezer/javascript";

/** A part of a line with the classes of its color. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

const script = parser.configure({ dialect: "ts" });

export function highlight(code: string): readonly (readonly Span[])[] {
  const lines: Span[][] = [[]];
  highlightCode(
    code,
    script.parse(code),
    classHighlighter,
    (text, classes) => void lines.at(-1)?.push({ text, classes }),
    () => void lines.push([]),
  );
  return lines;
}
