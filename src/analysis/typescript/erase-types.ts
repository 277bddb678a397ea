/**
 * The only file that uses amaro, the WebAssembly type stripper. It is loaded for the first program with types and
 * discarded when it fails: after running out of stack or memory, an instance fails on everything.
 */

import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { transformSync } from "amaro";

/** `broken` means that the stripper itself failed, `late` that it took too long. */
export type StripFailure =
  | { readonly kind: "refused"; readonly message: string; readonly offset: number }
  | { readonly kind: "broken" | "late" };

/**
 * Runs synchronous work and returns nothing when it takes too long. Interrupted work may start once more. The stripper
 * cannot be stopped from inside, and its time for hostile source can only be estimated, so callers should pass one that
 * uses the engine's watchdog.
 */
export type Timebox = <Result>(work: () => Result) => { readonly value: Result } | undefined;

const require = createRequire(import.meta.url);
/** The build copies it beside this module. */
const AMARO = import.meta.url.endsWith(".ts") ? "amaro" : "./amaro/index.cjs";

/** Wraps the source on separate lines, so that `return` is allowed, as it is when the program runs. */
const BEFORE = "(async()=>{\n";
const AFTER = "\n})";
const MODULE_WORD = /^[ \t]*(?:import|export)\b/mu;
const RETURN = /\breturn\b(?=([ \t]*[^\s;}])?)/gu;
const REPLACED = /\$eturn|throw ?/gu;

/** Never throws. The result has the same length as `text` and is aligned with it. */
export function eraseTypes(
  text: string,
  timebox: Timebox,
): { readonly kind: "erased"; readonly text: string } | StripFailure {
  const ran = runAmaro(text, "strip-only", timebox);
  if (ran.kind !== "ran") return ran;
  const code = ran.before === "" ? ran.code : ran.code.slice(ran.before.length, -AFTER.length);
  if (code.length !== text.length) return { kind: "broken" };
  return { kind: "erased", text: restoreEnds(text, restoreReturns(code, text, 0)) };
}

/** Puts `return` back where it was replaced; `code` is aligned with the source from `start` on. */
export function restoreReturns(code: string, source: string, start: number): string {
  return code.replace(REPLACED, (word, at: number) => (source.startsWith("return", start + at) ? "return" : word));
}

/** The output with its source map, if the mode has one. `before` was put before the source, and the map counts it. */
export type AmaroResult =
  | { readonly kind: "ran"; readonly code: string; readonly map: string; readonly before: string }
  | StripFailure;

/**
 * Never throws. amaro allows `return` in functions only and imports in modules only. Source with imports or exports is
 * read as a module, with another word of the same length for each `return`; a rule reports the imports later.
 */
export function runAmaro(text: string, mode: "strip-only" | "transform", timebox: Timebox): AmaroResult {
  const isModule = MODULE_WORD.test(text);
  const before = isModule ? "" : BEFORE;
  const whole = isModule
    ? text.replace(RETURN, (_word, operand?: string) => (operand === undefined ? "$eturn" : "throw "))
    : BEFORE + text + AFTER;
  let isRunning = false;
  try {
    loadAmaro();
    const output = timebox(() => {
      if (isRunning) unloadAmaro(); // an interrupted instance fails on everything
      isRunning = true;
      return loadAmaro().transformSync(whole, { mode, sourceMap: mode === "transform" });
    });
    if (!output) unloadAmaro();
    if (!output) return { kind: "late" };
    const { code, map = "" } = output.value;
    return { kind: "ran", code, map, before };
  } catch (thrown) {
    const refusal = parseRefusal(thrown, whole);
    if (!refusal) unloadAmaro();
    if (!refusal) return { kind: "broken" };
    const offset = Math.max(0, refusal.offset - before.length);
    const message = text.startsWith("return", offset) ? refusal.message.replace(REPLACED, "return") : refusal.message;
    return { kind: "refused", message, offset };
  }
}

const END_BEFORE_OPERATOR = /;(?=\s*[([`/+-])/gu;

/**
 * A semicolon that ends a type may also separate the statements around it: `let a = 1`, a type, then `;[a]`. The
 * stripper erases it with the type.
 */
function restoreEnds(text: string, erased: string): string {
  let [restored, from] = ["", 0];
  for (const { index: at } of text.matchAll(END_BEFORE_OPERATOR)) {
    const next = at + 1 + text.slice(at + 1).search(/\S/u);
    if (erased[at] !== " " || erased[next] !== text[next]) continue;
    restored += `${erased.slice(from, at)};`;
    from = at + 1;
  }
  return restored + erased.slice(from);
}

/** `require` caches the module. */
function loadAmaro(): { readonly transformSync: typeof transformSync } {
  return require(AMARO);
}

function unloadAmaro(): void {
  const main = require.resolve(AMARO);
  const folder = dirname(main);
  for (const file of Object.keys(require.cache)) if (file.startsWith(folder)) delete require.cache[file];
}

/** amaro throws a plain object for an error in the source, and an `Error` for its own failure. */
function parseRefusal(raw: unknown, text: string): Extract<StripFailure, { kind: "refused" }> | undefined {
  if (typeof raw !== "object" || raw === null || raw instanceof Error) return undefined;
  const { message, startLine, startColumn } = raw as Record<string, unknown>;
  if (typeof message !== "string") return undefined;
  return { kind: "refused", message, offset: offsetOf(text, Number(startLine ?? 1), Number(startColumn ?? 0)) };
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3ffff}]|\p{Emoji_Presentation}/u;
const INVISIBLE = /\p{Mark}|\p{Format}/u;

/** amaro counts a tab as four columns, a wide character as its length plus one, and an invisible one as zero. */
function offsetOf(text: string, line: number, shownColumn: number): number {
  let at = 0;
  for (let number = 1; number < line && at < text.length; number += 1) {
    const length = text.slice(at).search(/[\n\r]/u);
    if (length < 0) return text.length;
    at += length + (text.startsWith("\r\n", at + length) ? 2 : 1);
  }
  for (let shown = 0; shown < shownColumn && at < text.length;) {
    const char = String.fromCodePoint(text.codePointAt(at) ?? 32);
    if (char === "\n" || char === "\r") break;
    shown += widthOf(char);
    at += char.length;
  }
  return at;
}

function widthOf(char: string): number {
  if (char === "\t") return 4;
  if (INVISIBLE.test(char)) return 0;
  return char.length + (WIDE.test(char) ? 1 : 0);
}
