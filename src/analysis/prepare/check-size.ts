/**
 * The first check of a source: is it small and flat enough to parse safely? Estimates, before any parser runs, how deep
 * a parser would recurse and how often it might backtrack. Both estimates are upper bounds; ordinary programs are far
 * below the limits.
 */

import { GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { refuse } from "../locate.ts";
import { scanTokens } from "../scan-tokens.ts";
import type { Token } from "../scan-tokens.ts";

/** The limit on nested brackets and operators. Parsers recurse, and the best give up at about a thousand. */
export const MAX_DEPTH = 200;

/**
 * Names, numbers, strings and signs. The time of analysis grows with tokens, not bytes: this many take at most a tenth of
 * a second, in which the gateway does nothing else. A program of two thousand lines has about two thirds of this.
 */
export const MAX_TOKENS = 30_000;

/** Throws LIMIT_SIZE above the limit and PROGRAM_SYNTAX for nesting that is too deep for parsers. */
export function checkSize(source: string, limits: Pick<Limits, "sourceBytes">): Nesting {
  // A UTF-16 unit takes at least one byte, so an oversized source is refused without encoding it.
  const bytes = source.length > limits.sourceBytes ? source.length : Buffer.byteLength(source, "utf8");
  if (bytes > limits.sourceBytes) {
    throw new GloveboxError("LIMIT_SIZE", `The source is larger than ${limits.sourceBytes} bytes`, {
      hint: "Send a shorter program; give it data as input or let it fetch the data with a tool",
    });
  }
  const nesting = measureNesting(source, MAX_DEPTH, MAX_TOKENS);
  if (nesting.tokens > MAX_TOKENS) {
    throw new GloveboxError("LIMIT_SIZE", `The source has more than ${MAX_TOKENS} names, numbers, strings and signs`, {
      hint: "Give data as input, as one JSON string, or let the program fetch it with a tool",
    });
  }
  if (nesting.depth <= MAX_DEPTH) return nesting;
  throw refuse("PROGRAM_SYNTAX", source, {
    message: `Nested more than ${MAX_DEPTH} levels deep`,
    offset: nesting.offset,
    hint: "Split the expression into several statements",
  });
}

/** The result of `measureNesting`; `offset` is the deepest position. */
export interface Nesting {
  readonly depth: number;
  readonly offset: number;
  /**
   * Tokens, each counted as often as a TypeScript parser may read it. Much of the syntax is ambiguous (`<`, `?`, any
   * bracket in a type): a parser tries one reading, then the other, and nested tries multiply. Thirty levels would take
   * hours.
   */
  readonly visits: number;
  readonly tokens: number;
}

/** An open bracket, with the operators since the last statement or item inside it. */
interface Level {
  /** Depth where this level starts. */
  readonly base: number;
  /** How often this level may be read; `weight` includes the ambiguities of the current statement. */
  readonly baseWeight: number;
  weight: number;
  /** Operators that nest to the right: `=>`, `=`, `? :`, `**`, `if (…)`. */
  run: number;
  /** Prefix operators in a row. */
  prefix: number;
  /** `<` without its `>`. */
  angles: number;
  /** Whether the statement's block is unambiguous: a function, a class, a loop. */
  lead: "unknown" | "block" | "other";
}

const OPENING = new Set(["(", "[", "{", "${"]);
const CLOSING = new Set([")", "]", "}"]);
const NESTING_WORDS = new Set(["if", "for", "while", "do", "with", "extends"]);
const PREFIX_WORDS = new Set(["typeof", "void", "delete", "await", "new", "yield", "keyof", "readonly", "infer"]);
const JOINING_WORDS = new Set([
  "extends",
  "in",
  "of",
  "instanceof",
  "as",
  "satisfies",
  "is",
  "asserts",
  "async",
  "return",
]);
const NESTING_MARKS = new Set(["=>", "**", ":", "?", "<"]);
const GUESSED = new Set(["<", "?", "=>", "infer"]);
const BLOCK_WORDS = new Set([
  "function",
  "class",
  "if",
  "for",
  "while",
  "do",
  "switch",
  "try",
  "else",
  "catch",
  "interface",
]);
const LEADING_WORDS = new Set(["export", "default", "async", "declare", "abstract"]);

/** Stops at the first position deeper than `limit`, or after `mostTokens` tokens. */
export function measureNesting(text: string, limit: number, mostTokens = Infinity): Nesting {
  const levels: Level[] = [createLevel(0, 1)];
  let deepest = { depth: 0, offset: 0 };
  let visits = 0;
  let tokens = 0;
  let last: Token | undefined;
  for (const token of scanTokens(text)) {
    const level = step(levels, token, last);
    visits += level.weight;
    const depth = level.base + level.run + level.prefix;
    if (depth > deepest.depth) deepest = { depth, offset: token.start };
    tokens += 1;
    if (depth > limit || tokens > mostTokens) break;
    last = token;
  }
  return { ...deepest, visits, tokens };
}

function createLevel(base: number, weight: number): Level {
  return { base, baseWeight: weight, weight, run: 0, prefix: 0, angles: 0, lead: "unknown" };
}

/** Processes one token and returns the innermost open level. */
function step(levels: Level[], token: Token, last: Token | undefined): Level {
  const level = levels.at(-1) ?? createLevel(0, 1);
  if (token.text === ";" || startsStatement(token, last)) endStatement(level);
  if (token.kind === "mark" && OPENING.has(token.text)) return open(levels, level, token.text);
  if (CLOSING.has(token.text)) return close(levels, level);
  level.lead = leadAfter(level, token, last);
  level.prefix = isPrefix(token, last) ? level.prefix + 1 : 0;
  if (token.kind === "word" && NESTING_WORDS.has(token.text)) level.run += 1;
  if (token.kind === "mark") countMark(level, token.text);
  if (token.kind !== "value" && GUESSED.has(token.text)) level.weight *= 2;
  return level;
}

function open(levels: Level[], level: Level, text: string): Level {
  const isBlock = text === "{" && level.lead === "block";
  const inner = createLevel(level.base + level.run + level.prefix + 1, isBlock ? level.baseWeight : level.weight * 2);
  if (level.lead === "unknown") level.lead = "other";
  levels.push(inner);
  return inner;
}

/** An unmatched closing bracket is ignored: every parser stops there. */
function close(levels: Level[], level: Level): Level {
  if (levels.length > 1) levels.pop();
  const outer = levels.at(-1) ?? level;
  outer.prefix = 0;
  return outer;
}

function countMark(level: Level, text: string): void {
  if (text === ",") endItem(level);
  if (NESTING_MARKS.has(text) || isAssignment(text)) level.run += 1;
  if (text === "<") level.angles += 1;
  if (text !== ">" || level.angles === 0) return;
  level.angles -= 1;
  level.run = Math.max(0, level.run - 1);
}

function endStatement(level: Level): void {
  level.prefix = 0;
  level.angles = 0;
  level.lead = "unknown";
  endItem(level);
}

/** A comma ends right-nested operators, but inside `<…>` not the ambiguity. */
function endItem(level: Level): void {
  level.run = 0;
  if (level.angles === 0) level.weight = level.baseWeight;
}

/** `if` starts a statement; `if:` and `if?` are members of that name. */
function leadAfter(level: Level, token: Token, last: Token | undefined): Level["lead"] {
  if (level.lead === "block" && last?.kind === "word" && BLOCK_WORDS.has(last.text)) {
    return token.kind === "mark" && token.text !== "<" && token.text !== "*" ? "other" : "block";
  }
  if (level.lead !== "unknown") return level.lead;
  if (token.kind === "word" && LEADING_WORDS.has(token.text)) return "unknown";
  return token.kind === "word" && BLOCK_WORDS.has(token.text) ? "block" : "other";
}

function isAssignment(text: string): boolean {
  return text === "=" || (text.endsWith("=") && !["==", "===", "!=", "!==", "<=", ">="].includes(text));
}

function isPrefix(token: Token, last: Token | undefined): boolean {
  if (token.kind === "word") return PREFIX_WORDS.has(token.text);
  if (token.text === "!" || token.text === "~") return token.kind === "mark";
  return ["+", "-", "++", "--"].includes(token.text) && !endsOperand(last);
}

/** A line end between two operands ends a statement; anywhere else the statement may continue. */
function startsStatement(token: Token, last: Token | undefined): boolean {
  if (!token.afterLineEnd || !endsOperand(last)) return false;
  if (token.kind === "word") return !JOINING_WORDS.has(token.text);
  return token.kind === "value" ? token.text !== "`" : token.text === "{" || token.text === "@";
}

function endsOperand(token: Token | undefined): boolean {
  if (!token) return false;
  if (token.kind === "mark") return CLOSING.has(token.text);
  if (token.kind === "value") return true;
  return !PREFIX_WORDS.has(token.text) && !JOINING_WORDS.has(token.text) && !NESTING_WORDS.has(token.text);
}
