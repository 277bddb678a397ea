/**
 * The forms of TypeScript that are more than types: enums, namespaces and parameter properties. amaro's compiler
 * translates them, and its output is laid over the source again, so every position is still the author's.
 */

import { SourceMap } from "node:module";
import type { Token } from "acorn";
import { restoreReturns, runAmaro } from "./erase-types.ts";
import type { StripFailure, Timebox } from "./erase-types.ts";
import { createLocator, createOffsetFinder } from "../locate.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { blankAll, insert } from "../edit-text.ts";
import type { Edit, EditedText } from "../edit-text.ts";
import { scanTokens } from "../scan-tokens.ts";

/** Programs with more are refused: the compiler's time cannot be estimated. */
export const MAX_TRANSFORMS = 20;
const MANY = new RegExp(
  /\b(?:enum|namespace|module)\s+[\w$.]+\s*\{|\bconstructor\s*\([^)]{0,500}?\b(?:public|private|protected|readonly|override)\s/u
    .source,
  "gu",
);
const PROPERTY = /\b(?:public|private|protected|readonly)\s+[\w$]+\s*[,:=)]/gu;
const MAX_PROPERTIES = 1_000;
const TRANSFORMED = /^TypeScript (?:enum|namespace|parameter property)/u;

export function hasManyTransforms(text: string): boolean {
  const hasMore = (pattern: RegExp, most: number): boolean => !text.matchAll(pattern).drop(most).next().done;
  return hasMore(MANY, MAX_TRANSFORMS) || hasMore(PROPERTY, MAX_PROPERTIES - 1);
}

/** A namespace that is itself exported from a module is refused: a program exports nothing. */
export function isTransformable(text: string, { message, offset }: { message: string; offset: number }): boolean {
  return TRANSFORMED.test(message) && !/\bexport\s+$/u.test(text.slice(Math.max(0, offset - 100), offset));
}

/** Returns the translated text or the error. An error in the output is reported at its position in `text`. */
export function transformTypes(
  text: string,
  timebox: Timebox,
): ({ readonly kind: "erased" } & EditedText) | StripFailure {
  const ran = runAmaro(text, "transform", timebox);
  if (ran.kind !== "ran") return ran;
  const { code, map, before } = ran;
  const toSource = createMapper(map, code, before + text);
  const tokens: Token[] = [];
  const parsed = parseJavascript(code, tokens);
  if (!parsed.ok) {
    const { offset } = toSource(parsed.offset) ?? { offset: 0 };
    return { kind: "refused", message: parsed.message, offset: Math.max(0, offset - before.length) };
  }
  const own = tokens.filter(({ start, end }) => end > start).slice(...(before === "" ? [0] : BODY));
  const mapped = own.flatMap(({ start }) => {
    const found = toSource(start);
    return found?.isExact ? [[start, found.offset - before.length] as const] : [];
  });
  return { kind: "erased", ...weaveOutput(text, { text: code, tokens: own, toSource: new Map(mapped) }) };
}

/** The tokens without `async ( ) => {` and `} ;`, the compiler's output for the wrapper. */
const BODY: readonly [number, number] = [5, -2];

/** Maps an offset in the output to the nearest one in the source that the map knows. */
function createMapper(
  map: string,
  code: string,
  source: string,
): (offset: number) => { readonly offset: number; readonly isExact: boolean } | undefined {
  const sourceMap = new SourceMap(JSON.parse(map));
  const [locate, find] = [createLocator(code), createOffsetFinder(source)];
  return (at) => {
    const { line, column } = locate(at);
    const entry = sourceMap.findEntry(line - 1, column - 1);
    if (!("originalLine" in entry)) return undefined;
    const isExact = entry.generatedLine === line - 1 && entry.generatedColumn === column - 1;
    return { offset: find({ line: entry.originalLine + 1, column: entry.originalColumn + 1 }), isExact };
  };
}

/** A compiler's output: its tokens, and the source map's pairs of offsets. */
interface CompilerOutput {
  readonly text: string;
  readonly tokens: readonly Token[];
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

/**
 * Lays the output of a compiler over the source it came from. Every token that the source has too stays where the author
 * wrote it, every other token is an insertion, and what the compiler dropped becomes spaces. The result has exactly the
 * tokens of the output in their order; a wrong guess about a token can only point an error at a nearby place.
 */
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
