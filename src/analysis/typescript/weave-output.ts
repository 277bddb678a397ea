/**
 * Lays the output of a compiler over the source it came from. Every token that the source has too stays where the author
 * wrote it, every other token is an insertion, and what the compiler dropped becomes spaces. The result has exactly the
 * tokens of the output in their order; a wrong guess about a token can only point an error at a nearby place.
 */

import type { Token as AcornToken } from "acorn";
import { blankAll, insert } from "../edit-text.ts";
import type { Edit, EditedText } from "../edit-text.ts";
import { restoreReturns } from "./erase-types.ts";
import { scanTokens } from "../scan-tokens.ts";

/** A compiler's output: its tokens, and the source map's pairs of offsets. */
export interface CompilerOutput {
  readonly text: string;
  readonly tokens: readonly AcornToken[];
  readonly toSource: ReadonlyMap<number, number>;
}

/** A line end after the first, or before the second, would end the statement or be an error. */
const NO_LINE_END_AFTER = /^(?:return|throw|break|continue|yield|async|await|using)$/u;
const NO_LINE_END_BEFORE = /^(?:=>|\+\+|--)$/u;
const LINE_END = /[\n\r\u2028\u2029]/u;

interface OutputToken {
  readonly text: string;
  /** Its offset by the source map, if the source has the same text there. */
  readonly mapped: number | undefined;
  /** The gap before it; text of a template is glued to its quotes. */
  readonly gap: "none" | "glued" | "space" | "line";
}

export function weaveOutput(source: string, output: CompilerOutput): EditedText {
  const pieces = toPieces(source, output);
  const places = placePieces(source, pieces);
  const edits: Edit[] = [];
  const blanks: (readonly [number, number])[] = [];
  let [from, added] = [0, ""];
  let last = "";
  for (const [index, piece] of pieces.entries()) {
    const at = places[index];
    const isKept = at !== undefined && mayStand(piece, last, source.slice(from, at), added !== "");
    const isParted = piece.gap === "space" || piece.gap === "line";
    if (isParted && (!isKept || at === from)) added += added === "" && isKept ? "" : " ";
    last = piece.text;
    if (!isKept) {
      added += piece.text;
      continue;
    }
    if (added !== "") edits.push({ at: from, text: added });
    blanks.push([from, at]);
    [from, added] = [at + piece.text.length, ""];
  }
  if (added !== "") edits.push({ at: from, text: added });
  return insert(blankAll(source, [...blanks, [from, source.length]]), edits);
}

function mayStand({ text, gap }: OutputToken, last: string, between: string, isAfterAdded: boolean): boolean {
  if (gap === "glued") return between === "" && !isAfterAdded;
  if (gap === "line" || !LINE_END.test(between)) return true;
  return !NO_LINE_END_AFTER.test(last) && !NO_LINE_END_BEFORE.test(text);
}

function toPieces(source: string, { text, tokens, toSource }: CompilerOutput): readonly OutputToken[] {
  let [end, wasTemplate] = [tokens[0]?.start ?? 0, false];
  return tokens.map(({ start, end: next, type }) => {
    const at = toSource.get(start);
    const shown = text.slice(start, next);
    const own = at === undefined ? shown : restoreReturns(shown, source, at);
    const between = text.slice(end, start);
    const isTemplate = type.label === "template";
    const isGlued = (isTemplate || wasTemplate) && between === "";
    const gap = isGlued ? "glued" : between === "" ? "none" : LINE_END.test(between) ? "line" : "space";
    [end, wasTemplate] = [next, isTemplate];
    return { text: own, mapped: at !== undefined && source.startsWith(own, at) ? at : undefined, gap };
  });
}

/** Uses the source map where its offsets ascend; between two of them, the first token with the same text. */
function placePieces(source: string, pieces: readonly OutputToken[]): readonly (number | undefined)[] {
  const starts = [...scanTokens(source)].map(({ start }) => start);
  const fixed = findAscending(pieces.map(({ mapped }) => mapped));
  const ends = pieces.map(() => source.length);
  for (let index = pieces.length - 2; index >= 0; index -= 1) {
    ends[index] = fixed[index + 1] ?? ends[index + 1] ?? source.length;
  }
  let [token, cursor] = [0, 0];
  return pieces.map(({ text, gap }, index) => {
    let at = gap === "glued" && source.startsWith(text, cursor) ? cursor : fixed[index];
    while ((starts[token] ?? Infinity) < cursor) token += 1;
    for (let next = token; at === undefined && next < token + MAX_LOOKAHEAD; next += 1) {
      const start = starts[next] ?? Infinity;
      if (start + text.length > (ends[index] ?? 0)) break;
      if (source.startsWith(text, start)) at = start;
    }
    if (at !== undefined) cursor = at + text.length;
    return at;
  });
}

/** A type between two tokens is rarely longer. */
const MAX_LOOKAHEAD = 200;

/** Keeps the longest ascending subsequence, which leaves out code that the compiler moved. */
function findAscending(values: readonly (number | undefined)[]): readonly (number | undefined)[] {
  const tails: number[] = [];
  const before = new Map<number, number>();
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[tails[middle] ?? 0] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before.set(index, tails[low - 1] ?? 0);
    tails[low] = index;
  }
  const kept = new Set<number>();
  for (let index = tails.at(-1); index !== undefined; index = before.get(index)) kept.add(index);
  return values.map((value, index) => (kept.has(index) ? value : undefined));
}
