/**
 * A rough reader of JavaScript and TypeScript tokens: no recursion, no lookahead, linear in the text.
 * It need not be exact (it guesses where a regular expression starts); it must never be slow or throw.
 */

export interface Token {
  /** `value` is a number, string, regular expression or template without a hole. */
  readonly kind: "word" | "value" | "mark";
  /** Only the first character of a value. A hole in a template opens with `${` and closes with `}`. */
  readonly text: string;
  readonly start: number;
  readonly afterLineEnd: boolean;
}

const SPACE = /\s+/uy;
const WORD = /(?:[\w$\\]|[^\u0000-\u007f\s])+/uy;
const MARK = /=>|[=!]==?|\*\*=?|\?\.|\?\?=?|[<>]=|&&=?|\|\|=?|\+\+|--|[-+*/%&|^]=|[^]/uy;
const LINE_END = /[\n\r\u2028\u2029]/u;
const LINE_REST = /[^\n\r\u2028\u2029]*/uy;
/** No longer mark starts with one of these. Half of the tokens of a program are among them. */
const SINGLE_MARKS = new Set("(){}[],;:.~");
/** Between these, every character but the slash starts a token. */
const [LAST_CONTROL, DELETE] = [0x20, 0x7f];
/** After these a slash starts a regular expression; after any other word it divides. */
const BEFORE_REGEX = new Set([
  "return",
  "typeof",
  "case",
  "void",
  "delete",
  "await",
  "yield",
  "in",
  "of",
  "else",
  "do",
]);

/** Longer ones are read as code. Without the cap, a line of slashes would take quadratic time. */
const REGEX_CHARS = 1_000;

export function* scanTokens(text: string): Generator<Token, void> {
  /** For each open brace, whether it opens a hole in a template. */
  const braces: boolean[] = [];
  let last: Token | undefined;
  let afterLineEnd = false;
  for (let at = 0; at < text.length;) {
    const gapEnd = skipGap(text, at);
    if (gapEnd > at) {
      afterLineEnd ||= LINE_END.test(text.slice(at, gapEnd));
      at = gapEnd;
      continue;
    }
    const { kind, text: shown, end } = readToken(text, at, last);
    const token: Token = { kind, text: shown, start: at, afterLineEnd };
    yield token;
    at = end;
    if (token.text === "`" || (token.text === "}" && braces.pop() === true)) {
      const chunk = skipTemplate(text, at);
      at = chunk.end;
      if (chunk.hole) {
        braces.push(true);
        yield { kind: "mark", text: "${", start: at - 2, afterLineEnd: false };
        last = undefined;
        afterLineEnd = false;
        continue;
      }
    }
    if (token.text === "{") braces.push(false);
    last = token;
    afterLineEnd = false;
  }
}

function readToken(
  text: string,
  at: number,
  last: Token | undefined,
): Pick<Token, "kind" | "text"> & { readonly end: number } {
  const first = text.charAt(at);
  if (SINGLE_MARKS.has(first)) return { kind: "mark", text: first, end: at + 1 };
  if (first === "`") return { kind: "value", text: first, end: at + 1 };
  if (first === '"' || first === "'") return { kind: "value", text: first, end: skipString(text, at, first) };
  const end = first === "/" ? regexEnd(text, at, last) : 0;
  if (end > 0) return { kind: "value", text: first, end };
  const word = matchAt(WORD, text, at);
  const shown = word === "" ? matchAt(MARK, text, at) : word;
  const isNumber = first >= "0" && first <= "9";
  const kind = isNumber ? "value" : word === "" ? "mark" : "word";
  return { kind, text: isNumber ? first : shown, end: at + shown.length };
}

function skipGap(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code > LAST_CONTROL && code < DELETE && text.charAt(at) !== "/") return at;
  if (text.startsWith("//", at)) return at + matchAt(LINE_REST, text, at).length;
  if (text.startsWith("/*", at)) {
    const end = text.indexOf("*/", at + 2);
    return end < 0 ? text.length : end + 2;
  }
  return at + matchAt(SPACE, text, at).length;
}

function skipString(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === quote) return at + 1;
    if (char === "\n" || char === "\r") return at;
    if (char === "\\") at += 1;
  }
  return text.length;
}

function skipTemplate(text: string, start: number): { readonly end: number; readonly hole: boolean } {
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "`") return { end: at + 1, hole: false };
    if (char === "$" && text.charAt(at + 1) === "{") return { end: at + 2, hole: true };
    if (char === "\\") at += 1;
  }
  return { end: text.length, hole: false };
}

/** Returns the end of the regular expression that starts here, or 0 if this slash does not start one. */
function regexEnd(text: string, start: number, last: Token | undefined): number {
  if (last?.kind === "value" || last?.text === ")" || last?.text === "]") return 0;
  if (last?.kind === "word" && !BEFORE_REGEX.has(last.text)) return 0;
  let inClass = false;
  for (let at = start + 1; at < Math.min(text.length, start + REGEX_CHARS); at += 1) {
    const char = text.charAt(at);
    if (LINE_END.test(char)) return 0;
    if (char === "\\") at += 1;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return at + 1;
  }
  return 0;
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.test(text) ? text.slice(at, pattern.lastIndex) : "";
}
