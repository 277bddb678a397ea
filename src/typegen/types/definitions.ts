/**
 * What references lead to. Each target is converted once; where it is used stands a mark, which a later step replaces
 * by a name or by the text itself. That keeps recursion finite and definitions that double at every level small.
 */

import { single } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

/** Around the number of a definition. Servers cannot write it: control characters appear escaped or not at all. */
const MARK = "\u0001";
const MARKS = /\u0001(\d+)\u0001/g;

/** Shorter types are written out wherever they are used: a name would say less and cost as much. */
const SHORT_TEXT = 60;
/** What an unfinished type may have once multiplied out is not known; two of them are too many. */
const UNKNOWN_WIDTH = 32;

/** One target of references. */
export interface Definition {
  readonly id: number;
  readonly ref: string;
  /** Absent while it is being converted: a use of it then is a recursion. */
  type?: TypeText;
  isRecursive: boolean;
}

/** A finished conversion, with marks in its text. */
export interface Converted {
  readonly type: TypeText;
  readonly definitions: readonly Definition[];
}

/** What to write where the definition is used. */
export function useDefinition(definition: Definition): TypeText {
  const { id, type } = definition;
  if (!type) {
    definition.isRecursive = true;
    return { ...single(`${MARK}${id}${MARK}`), width: UNKNOWN_WIDTH };
  }
  if (type.kind === "unknown" || type.kind === "never") return type;
  const isShort = type.text.length <= SHORT_TEXT && !type.text.includes("\n") && !hasMarks(type.text);
  return isShort && !definition.isRecursive ? type : { ...single(`${MARK}${id}${MARK}`), width: type.width };
}

/** True while some reference in it has no text yet. */
export function hasMarks(text: string): boolean {
  return text.includes(MARK);
}

/** True for a text that is one reference and nothing else. */
export function isMark(text: string): boolean {
  return /^\u0001\d+\u0001$/.test(text);
}

/** How often each definition is used in these texts. */
export function countUses(texts: readonly string[]): ReadonlyMap<number, number> {
  const uses = new Map<number, number>();
  for (const text of texts) {
    for (const [, id] of text.matchAll(MARKS)) uses.set(Number(id), (uses.get(Number(id)) ?? 0) + 1);
  }
  return uses;
}

/** Puts text in the place of every mark, indented like the line it comes into; `indent` is that of the first line. */
export function fillMarks(text: string, indent: string, write: (id: number) => TypeText): string {
  return text.replace(MARKS, (found: string, id: string, at: number) => {
    const written = write(Number(id));
    const lineStart = text.lastIndexOf("\n", at) + 1;
    const pad = lineStart === 0 ? indent : (/^ */.exec(text.slice(lineStart, lineStart + 200))?.[0] ?? "");
    const inside = written.text.replaceAll("\n", `\n${pad}`);
    return needsParentheses(written, text.slice(Math.max(0, at - 2), at), text[at + found.length])
      ? `(${inside})`
      : inside;
  });
}

/** Not where it is the whole type of a property, of an array or of everything. */
function needsParentheses(type: TypeText, before: string, after: string | undefined): boolean {
  const isCompound = type.kind === "union" || type.text.includes(" & ");
  const isWhole = (before === "" || before === ": " || before.endsWith("<")) && /^[;>]?$/.test(after ?? "");
  return isCompound && !isWhole;
}
