/** Whether a program takes its `input` for a string. Read from the tokens: the question comes before the analysis. */

import { scanTokens } from "./scan-tokens.ts";
import type { Token } from "./scan-tokens.ts";

/** Methods that a string has, and an array or an object has not. */
const OF_STRINGS: ReadonlySet<string> = new Set(
  "charAt charCodeAt codePointAt endsWith localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll search split startsWith substring substr toLowerCase toUpperCase trim trimEnd trimStart".split(
    " ",
  ),
);
/** Functions that take a string: `JSON.parse(input)`, `/x/.test(input)`. */
const TAKE_STRINGS: ReadonlySet<string> = new Set(["parse", "test", "exec"]);

/** Arguments of tools that are text in nearly every API: `{ content: input }`. */
const TEXT_KEYS: ReadonlySet<string> = new Set("content text message markdown html newText caption".split(" "));

const NONE: readonly (Token | undefined)[] = [];

export function expectsText(source: string): boolean {
  let [third, second, last] = NONE;
  for (const token of scanTokens(source)) {
    if (isInput(last, second)) {
      const isTaken = second?.text === "(" && TAKE_STRINGS.has(third?.text ?? "");
      const isText = second?.text === ":" && TEXT_KEYS.has(third?.text ?? "");
      if (isText && (token.text === "}" || token.text === ",")) return true;
      if (second?.text === "typeof" || (isTaken && (token.text === ")" || token.text === ","))) return true;
    }
    if (isMember(last) && isInput(second, third) && OF_STRINGS.has(token.text)) return true;
    [third, second, last] = [second, last, token];
  }
  return isInput(last, second) && second?.text === "typeof";
}

function isInput(token: Token | undefined, before: Token | undefined): boolean {
  return token?.kind === "word" && token.text === "input" && !isMember(before);
}

function isMember(token: Token | undefined): boolean {
  return token?.text === "." || token?.text === "?.";
}
