/**
 * Estimates, before any parser runs, how deep a parser would recurse and how often it might backtrack. Both estimates
 * are upper bounds; ordinary programs are far below the limits.
 */

import { scanTokens } from "../scan-tokens.ts";
import type { Token } from "../scan-tokens.ts";

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
  /** Tokens read so far. */
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
