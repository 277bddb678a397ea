/**
 * `await` in a function that is not async does not parse. Finds the function, and the lines to write instead: with `async`
 * before it and, around `map`, with `await Promise.all(…)`. What it suggests has been parsed.
 */

import { GloveboxError, describeError } from "../../domain/index.ts";
import { withoutInsertions } from "../edit-text.ts";
import { createOffsetFinder, cutMessage } from "../locate.ts";
import type { SourceComplaint } from "../locate.ts";
import type { StrippedProgram } from "../parse-javascript.ts";
import { readTree, staticName } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";

type Parse = (text: string) => StrippedProgram;

/** Longer programs are not parsed again. */
const MAX_CHARS = 8_000;
/** Functions of one program without `async`, and those before an `await` that may be around it. */
const MAX_FIXED = 3;
const MAX_TRIED = 3;
const SHOWN_LINES = 4;
const PARAMETERS = String.raw`\((?:[^()]|\([^()]{0,200}\)){0,400}\)`;
const TYPE = String.raw`(?:\s{0,9}:\s{0,9}[\w<>[\]|.]{1,99}(?: [\w<>[\]|.]{1,99}){0,9})?`;
/** The beginning of an arrow function, a function or a method. */
const HEAD = new RegExp(
  String.raw`${PARAMETERS}${TYPE}\s{0,9}=>|(?<![\w$.])(?:[\w$]{1,99}\s{0,9}=>|function\b|(?!(?:if|for|while|switch|catch)\b)[\w$]{1,99}${PARAMETERS}${TYPE}\s{0,9}\{)`,
  "gu",
);
const MADE_BY: ReadonlySet<string> = new Set(["map", "flatMap"]);
/** Methods that take the promise of an async function for its result. */
const NOT_WAITING = /\.(forEach|filter|find|findIndex|some|every|sort|toSorted|reduce)\(\s{0,9}async\b/u;

const MESSAGE = "`await` works only in an async function";

/** `undefined` if the program does not parse for another reason. */
export function explainAwait(source: string, thrown: unknown, parse: Parse): SourceComplaint | undefined {
  const first = source.length > MAX_CHARS ? undefined : findAwait(source, thrown);
  if (first === undefined) return undefined;
  let [text, failure]: [string, unknown] = [source, thrown];
  for (let round = 0; round < MAX_FIXED; round += 1) {
    const fixed = makeAsync(text, failure, parse);
    if (fixed === undefined) return undefined;
    text = fixed.text;
    if (fixed.failure === undefined) return { message: MESSAGE, offset: first, hint: toHint(source, text) };
    failure = fixed.failure;
  }
  return undefined;
}

/** The offset of the `await` that a parser stopped at. */
function findAwait(text: string, thrown: unknown): number | undefined {
  if (!(thrown instanceof GloveboxError)) return undefined;
  const { line, column } = describeError(thrown);
  if (line === undefined || column === undefined) return undefined;
  const at = createOffsetFinder(text)({ line, column });
  if (/^await\b/u.test(text.slice(at, at + 6))) return at;
  const [before] = /\bawait\s+$/u.exec(text.slice(Math.max(0, at - 20), at)) ?? [];
  return before === undefined ? undefined : at - before.length;
}

interface FixedText {
  readonly text: string;
  /** Absent if the text parses; otherwise it fails at a later `await`. */
  readonly failure?: unknown;
}

/** Writes `async` before the nearest function for which the program then parses, or fails later. */
function makeAsync(text: string, failure: unknown, parse: Parse): FixedText | undefined {
  const at = findAwait(text, failure);
  if (at === undefined) return undefined;
  const heads = Array.from(text.slice(0, at).matchAll(HEAD), ({ index }) => index).toReversed();
  for (const head of heads.slice(0, MAX_TRIED)) {
    const made = awaitAll(`${text.slice(0, head)}async ${text.slice(head)}`, head, parse);
    const later = made.failure === undefined ? undefined : findAwait(made.text, made.failure);
    if (made.failure === undefined || (later !== undefined && later > at + "async ".length)) return made;
  }
  return undefined;
}

/** The promises that `map` makes with the function at `start` are awaited together, if nothing awaits them. */
function awaitAll(text: string, start: number, parse: Parse): FixedText {
  try {
    const { root, insertions } = parse(text);
    const toText = (offset: number): number => withoutInsertions(insertions, offset);
    const tree = readTree(root);
    const made = tree.nodes.find((node) => isFunction(node) && toText(node.start) === start);
    const call = made && tree.parentOf(made);
    if (call?.type !== "CallExpression" || call.arguments[0] !== made || call.callee.type !== "MemberExpression")
      return { text };
    const parent = tree.parentOf(call);
    const isAwaited = parent?.type === "CallExpression" || parent?.type === "AwaitExpression";
    if (!MADE_BY.has(staticName(call.callee.property, call.callee.computed) ?? "") || isAwaited) return { text };
    const [from, to] = [toText(call.start), toText(call.end)];
    const all = `await Promise.all(${text.slice(from, to)})`;
    const isRead = parent?.type === "MemberExpression";
    const wrapped = `${text.slice(0, from)}${isRead ? `(${all})` : all}${text.slice(to)}`;
    return tryParse(wrapped, parse);
  } catch (failure) {
    return { text, failure };
  }
}

function tryParse(text: string, parse: Parse): FixedText {
  try {
    parse(text);
    return { text };
  } catch (failure) {
    return { text, failure };
  }
}

/** The lines that differ. Nothing was written that ends a line. */
function toHint(source: string, text: string): string {
  const before = source.split("\n");
  const changed = text.split("\n").filter((line, at) => line !== before[at]);
  const [, method] = NOT_WAITING.exec(changed.join("\n")) ?? [];
  if (method !== undefined) {
    return `\`${method}\` does not wait for an async function: use \`for (const item of list)\`, in which \`await\` works`;
  }
  return `Write: ${changed
    .slice(0, SHOWN_LINES)
    .map((line) => cutMessage(line.trim()))
    .join("\n")}`;
}
