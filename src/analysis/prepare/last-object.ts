/**
 * `{ total: n }` at the end of a program is a block with a label in JavaScript, but authors mean an object. It is read as
 * an object if it can be one.
 */

import type { BlockStatement, Program as Root } from "acorn";
import { insert } from "../edit-text.ts";
import type { EditedText } from "../edit-text.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { scanTokens } from "../scan-tokens.ts";
import type { Token } from "../scan-tokens.ts";

/** A longer one is data or a real block, and parsing it twice is slow. */
const MAX_CHARS = 20_000;
/** Longer sources are not parsed a second time. */
const MAX_TEXT_CHARS = 50_000;

/** Returns the last statement if it is a block that also parses as a non-empty object. */
export function findLastObject(text: string, root: Root): BlockStatement | undefined {
  const last = root.body.findLast((node) => node.type !== "EmptyStatement");
  if (last?.type !== "BlockStatement" || last.body.length !== 1) return undefined;
  const [only] = last.body;
  const mayBe = only?.type === "LabeledStatement" || only?.type === "ExpressionStatement";
  return mayBe && isObject(text.slice(last.start, last.end)) ? last : undefined;
}

function isObject(text: string): boolean {
  if (text.length > MAX_CHARS) return false;
  const parsed = parseJavascript(`(${text})`);
  const [statement] = parsed.ok ? parsed.root.body : [];
  const expression = statement?.type === "ExpressionStatement" ? statement.expression : undefined;
  const inner = expression?.type === "ParenthesizedExpression" ? expression.expression : undefined;
  return inner?.type === "ObjectExpression" && inner.properties.length > 0;
}

/** Words before a brace that make it a part of another statement. */
const TAKING: ReadonlySet<string> = new Set([
  "else",
  "do",
  "try",
  "finally",
  "return",
  "throw",
  "yield",
  "await",
  "of",
  "in",
]);
const CONDITIONS: ReadonlySet<string> = new Set(["if", "while", "for", "switch", "with", "catch"]);

/**
 * Puts parentheses around the braces at the end, for `{ a: 1, b: 2 }`, which is not a valid block. Only for source that
 * does not parse otherwise; it may contain types.
 */
export function wrapLastObject(text: string): EditedText | undefined {
  if (text.length > MAX_TEXT_CHARS) return undefined;
  const tokens = [...scanTokens(text)];
  const close = tokens.findLastIndex(({ text: sign }) => sign !== ";");
  const open = tokens[close]?.text === "}" ? findOpening(tokens, close) : -1;
  const [first, last] = [tokens[open], tokens[close]];
  if (!first || !last || !startsStatement(tokens, open)) return undefined;
  return insert(text, [
    { at: first.start, text: ";(" },
    { at: last.start + 1, text: ")" },
  ]);
}

function findOpening(tokens: readonly Token[], close: number): number {
  let depth = 0;
  for (let at = close; at >= 0; at -= 1) {
    const token = tokens[at];
    if ([")", "]", "}"].includes(token?.text ?? "")) depth += 1;
    if (token?.kind === "mark" && ["(", "[", "{", "${"].includes(token.text)) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function startsStatement(tokens: readonly Token[], open: number): boolean {
  const before = tokens[open - 1];
  if (!before || before.text === ";" || before.text === "}") return true;
  if (!tokens[open]?.afterLineEnd || TAKING.has(before.text)) return false;
  if (before.text !== ")") return before.kind !== "mark" || before.text === "]";
  const head = tokens[findOpening(tokens, open - 1) - 1];
  return !CONDITIONS.has(head?.text ?? "");
}
