/**
 * The forms of TypeScript that are more than types: enums, namespaces and parameter properties. amaro's compiler
 * translates them, and its output is laid over the source again, so every position is still the author's.
 */

import { SourceMap } from "node:module";
import type { Token } from "acorn";
import { runAmaro } from "./erase-types.ts";
import type { StripFailure, Timebox } from "./erase-types.ts";
import { createLocator, createOffsetFinder } from "../locate.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { weaveOutput } from "./weave-output.ts";
import type { EditedText } from "../edit-text.ts";

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

/** Whether a text has more such declarations than the limit. */
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
