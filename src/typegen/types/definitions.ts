/**
 * The targets of references. Each is converted once. Every use is a mark that a later step replaces by a name or by the
 * text. That keeps recursion finite, and definitions that double at every level small.
 */

import { single } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

/** Encloses the number of a definition. Servers cannot write it, because control characters are escaped or removed. */
const MARK = "\u0001";
const MARKS = /\u0001(\d+)\u0001/g;

/** Shorter types are written inline: a name would be as long and less clear. */
const SHORT_TEXT = 60;
/** Assumed for an unfinished type, whose expanded width is unknown; two of them are too many. */
const UNKNOWN_WIDTH = 32;

export interface Definition {
  readonly id: number;
  readonly ref: string;
  /** Absent during its conversion; a use is a recursion then. */
  type?: TypeText;
  isRecursive: boolean;
}

export interface ConvertedType {
  readonly type: TypeText;
  readonly definitions: readonly Definition[];
}

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

export function hasMarks(text: string): boolean {
  return text.includes(MARK);
}

export function isMark(text: string): boolean {
  return /^\u0001\d+\u0001$/.test(text);
}

export function countUses(texts: readonly string[]): ReadonlyMap<number, number> {
  const uses = new Map<number, number>();
  for (const text of texts) {
    for (const [, id] of text.matchAll(MARKS)) uses.set(Number(id), (uses.get(Number(id)) ?? 0) + 1);
  }
  return uses;
}

/** Replaces every mark, indented like its line; `indent` is that of the first line. */
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

/** False where the type is the whole type of a property or an array, or the only type. */
function needsParentheses(type: TypeText, before: string, after: string | undefined): boolean {
  const isCompound = type.kind === "union" || type.text.includes(" & ");
  const isWhole = (before === "" || before === ": " || before.endsWith("<")) && /^[;>]?$/.test(after ?? "");
  return isCompound && !isWhole;
}
