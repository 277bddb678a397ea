/**
 * Parses plain JavaScript as the body of a strict async function, with acorn made safe for hostile sources.
 * acorn is the authority: what it does not accept does not run.
 */

import { Parser } from "acorn";
import type { Options, Program as Root, Token } from "acorn";
import type { Insertion } from "./edit-text.ts";
import { readNodes } from "./read-tree.ts";

export interface StrippedProgram {
  readonly text: string;
  readonly root: Root;
  /** Inserted text, sorted, with offsets in `text`. */
  readonly insertions: readonly Insertion[];
}

/** `exhausted` means that the parser ran out of stack; another parser would too. */
export type ParseResult =
  | { readonly ok: true; readonly root: Root }
  | { readonly ok: false; readonly message: string; readonly offset: number; readonly exhausted: boolean };

const OPTIONS: Options = {
  ecmaVersion: "latest",
  sourceType: "module",
  allowReturnOutsideFunction: true,
  preserveParens: true,
};

/** acorn compares all named groups of a pattern with each other, so a long pattern takes seconds. */
const MAX_REGEX_CHARS = 8_192;

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/** Never throws. Tokens are appended to `tokens`, if it is given. */
export function parseJavascript(text: string, tokens?: Token[]): ParseResult {
  try {
    const root = BoundedParser.parse(text, tokens ? { ...OPTIONS, onToken: tokens } : OPTIONS);
    const comment = findHtmlComment(text, root);
    if (comment !== undefined) return toRefusal("HTML-like comments are not allowed", comment);
    const name = findStrangeName(text, root);
    return name === undefined ? { ok: true, root } : toRefusal("Unexpected character in a name", name);
  } catch (thrown) {
    return toFailure(thrown);
  }
}

/**
 * `a <!--b` is an expression in a module and a comment in a script. Engines compile a script, so the analyzed program
 * would not be the one that runs.
 */
function findHtmlComment(text: string, root: Root): number | undefined {
  if (!text.includes("<!--")) return undefined;
  for (const node of readNodes(root)) {
    if (node.type !== "BinaryExpression" || node.operator !== "<") continue;
    if (text.startsWith("<!--", node.right.start - 1)) return node.right.start - 1;
  }
  return undefined;
}

/** acorn and the engine use different versions of Unicode; the engine's tables decide what a name is. */
function findStrangeName(text: string, root: Root): number | undefined {
  if (!/[^\u0000-\u007f]/u.test(text)) return undefined;
  for (const node of readNodes(root)) {
    if (node.type !== "Identifier" && node.type !== "PrivateIdentifier") continue;
    if (!NAME.test(node.name)) return node.start;
  }
  return undefined;
}

function toRefusal(message: string, offset: number): ParseResult {
  return { ok: false, message, offset, exhausted: false };
}

function toFailure(thrown: unknown): ParseResult {
  if (!(thrown instanceof SyntaxError)) {
    return { ok: false, message: "The program is too deeply nested to parse", offset: 0, exhausted: true };
  }
  const offset = "pos" in thrown && typeof thrown.pos === "number" ? thrown.pos : 0;
  const exhausted = thrown.message.startsWith("Not enough stack space");
  const message = exhausted ? "The program is too deeply nested to parse" : thrown.message;
  return { ok: false, message: message.replace(/\s*\(\d+:\d+\)$/u, ""), offset, exhausted };
}

/** acorn searches its name lists linearly for every declaration: 40,000 names would take seconds. */
class NameList extends Array<string> {
  readonly #names = new Set<string>();

  override push(...names: string[]): number {
    for (const name of names) this.#names.add(name);
    return super.push(...names);
  }

  /** Returns 0 for any known name: acorn only tests whether the result is negative. */
  override indexOf(name: string): number {
    return this.#names.has(name) ? 0 : -1;
  }
}

/** The methods of acorn's parser that extensions override; acorn's declarations omit them. */
interface OpenParser {
  readonly scopeStack: { var: string[]; lexical: string[]; functions: string[] }[];
  enterScope(flags: number): void;
  validateRegExpPattern(state: { readonly start: number; readonly source: string }): void;
  raise(offset: number, message: string): never;
}

const BoundedParser = Parser.extend((base) => {
  const Open = trustOpenParser(base);
  class Bounded extends Open {
    override enterScope(flags: number): void {
      super.enterScope(flags);
      const scope = this.scopeStack.at(-1);
      if (scope) Object.assign(scope, { var: new NameList(), lexical: new NameList(), functions: new NameList() });
    }

    override validateRegExpPattern(state: { readonly start: number; readonly source: string }): void {
      if (state.source.length > MAX_REGEX_CHARS) this.raise(state.start, "Regular expression literal too long");
      super.validateRegExpPattern(state);
    }
  }
  return trustParser(Bounded);
});

/** acorn's declarations hide the constructor and the methods that an extension overrides. */
function trustOpenParser(base: unknown): new (...args: never[]) => OpenParser {
  return base as new (...args: never[]) => OpenParser;
}

function trustParser(extended: unknown): typeof Parser {
  return extended as typeof Parser;
}
