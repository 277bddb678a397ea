/**
 * The only file that uses amaro, the WebAssembly type stripper. It is loaded for the first program with types and
 * discarded when it fails: after running out of stack or memory, an instance fails on everything.
 */

import { createRequire } from "node:module";
import type { transformSync } from "amaro";

/** `broken` means that the stripper itself failed. */
export type Erasure =
  | { readonly kind: "erased"; readonly text: string }
  | { readonly kind: "refused"; readonly message: string; readonly offset: number; readonly end: number }
  | { readonly kind: "broken" };

/**
 * Runs synchronous work and throws when it takes too long. The stripper cannot be stopped from inside, and its time for
 * hostile source can only be estimated, so callers should pass one that uses the engine's watchdog.
 */
export type Timebox = <Result>(work: () => Result) => Result;

const require = createRequire(import.meta.url);

/** Wraps the source on separate lines, so that `return` is allowed, as it is when the program runs. */
const BEFORE = "(async()=>{\n";
const AFTER = "\n})";
const MODULE_WORD = /^[ \t]*(?:import|export)\b/mu;

/** Never throws. The result has the same length as `text` and is aligned with it. */
export function eraseTypes(text: string, timebox: Timebox): Erasure {
  const asBody = (): Erasure => erase(BEFORE + text + AFTER, BEFORE.length, timebox);
  const asModule = (): Erasure => erase(text, 0, timebox);
  if (!MODULE_WORD.test(text)) return asBody();
  const erased = asModule();
  if (erased.kind !== "refused" || !erased.message.startsWith("Return statement")) return erased;
  const body = asBody();
  return body.kind === "refused" && body.message.includes(MODULE_REFUSAL) ? eraseWithoutReturns(text, timebox) : body;
}

const MODULE_REFUSAL = "'import', and 'export'";

/**
 * Source with imports and `return` is neither a module nor a function body. With another word of the same length for
 * each `return` it is a module; a rule reports the imports later.
 */
function eraseWithoutReturns(text: string, timebox: Timebox): Erasure {
  const replaced = text.replace(RETURN, (_word, operand?: string) => (operand === undefined ? "$eturn" : "throw "));
  const erased = erase(replaced, 0, timebox);
  if (erased.kind !== "erased") return erased;
  let [restored, from] = ["", 0];
  for (const { index: at, 0: word } of text.matchAll(RETURN)) {
    const end = at + word.length;
    // A `return` inside a type was erased.
    if (!erased.text.startsWith(replaced.slice(at, end), at)) continue;
    restored += erased.text.slice(from, at) + word;
    from = end;
  }
  return { kind: "erased", text: restored + erased.text.slice(from) };
}

const RETURN = /\breturn\b(?=([ \t]*[^\s;}])?)/gu;

/** The output of amaro's compiler with its source map. `before` was put before the source, and the map counts it. */
export type Translation =
  | { readonly kind: "translated"; readonly code: string; readonly map: string; readonly before: string }
  | Exclude<Erasure, { kind: "erased" }>;

/** Never throws. */
export function translateTypes(text: string, timebox: Timebox): Translation {
  const asBody = (): Translation => translate(BEFORE, text, timebox);
  if (!MODULE_WORD.test(text)) return asBody();
  const translated = translate("", text, timebox);
  return translated.kind === "refused" && translated.message.startsWith("Return statement") ? asBody() : translated;
}

function translate(before: string, text: string, timebox: Timebox): Translation {
  const whole = before === "" ? text : before + text + AFTER;
  const ran = runAmaro(whole, "transform", timebox);
  return ran.kind === "ran"
    ? { kind: "translated", code: ran.code, map: ran.map, before }
    : moveBack(ran, before.length);
}

function erase(text: string, from: number, timebox: Timebox): Erasure {
  const ran = runAmaro(text, "strip-only", timebox);
  if (ran.kind !== "ran") return moveBack(ran, from);
  if (ran.code.length !== text.length) return { kind: "broken" };
  return { kind: "erased", text: restoreEnds(text, ran.code).slice(from, from === 0 ? undefined : -AFTER.length) };
}

type AmaroResult =
  | { readonly kind: "ran"; readonly code: string; readonly map: string }
  | Exclude<Erasure, { kind: "erased" }>;

function runAmaro(text: string, mode: "strip-only" | "transform", timebox: Timebox): AmaroResult {
  try {
    const amaro = loadAmaro();
    const { code, map = "" } = timebox(() => amaro.transformSync(text, { mode, sourceMap: mode === "transform" }));
    return { kind: "ran", code, map };
  } catch (thrown) {
    const refusal = parseRefusal(thrown, text);
    if (!refusal) unloadAmaro();
    return refusal ?? { kind: "broken" };
  }
}

function moveBack(failed: Exclude<Erasure, { kind: "erased" }>, by: number): Exclude<Erasure, { kind: "erased" }> {
  if (failed.kind === "broken") return failed;
  return { ...failed, offset: Math.max(0, failed.offset - by), end: Math.max(0, failed.end - by) };
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
  return require("amaro");
}

function unloadAmaro(): void {
  const main = require.resolve("amaro");
  const folder = main.slice(0, main.lastIndexOf("index.js"));
  for (const file of Object.keys(require.cache)) if (file.startsWith(folder)) delete require.cache[file];
}

/** amaro throws a plain object for an error in the source, and an `Error` for its own failure. */
function parseRefusal(raw: unknown, text: string): Extract<Erasure, { kind: "refused" }> | undefined {
  if (typeof raw !== "object" || raw === null || raw instanceof Error) return undefined;
  const { message, code, startLine, startColumn, endLine, endColumn } = raw as Record<string, unknown>;
  // The watchdog throws an error of another realm when it stops the stripper.
  if (typeof message !== "string" || code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
  const [line, column] = [Number(startLine ?? 1), Number(startColumn ?? 0)];
  const offset = offsetOf(text, line, column);
  return {
    kind: "refused",
    message,
    offset,
    end: offsetOf(text, Number(endLine ?? line), Number(endColumn ?? column)),
  };
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
