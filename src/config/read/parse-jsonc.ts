/** Parses JSON with comments and trailing commas, and locates keys and values for messages. */

import { createScanner, findNodeAtLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";

import { GloveboxError } from "../../domain/index.ts";
import { MAX_CONFIG_DEPTH } from "./copy-config.ts";
import { quote, toPlace } from "../problems.ts";
import type { KeyPath, Locate, FilePosition } from "../problems.ts";

const BYTE_ORDER_MARK = "\ufeff";

const EMPTY_CONFIG = "Write {} for a configuration with only defaults";

/** Returns the unchecked value; throws at the first syntax error. `whenEmpty` is the hint for an empty file. */
export function parseJsonc(rawText: string, path: string, whenEmpty = EMPTY_CONFIG): unknown {
  const text = withoutMark(rawText);
  const fail = (offset: number, message: string, hint: string): never => {
    const at = createPositionAt(text)(offset);
    throw new GloveboxError("CONFIG_INVALID", `${toPlace(path, at)} ${message}`, { hint, ...at });
  };
  if (text.trim() === "") return fail(0, "the file is empty", whenEmpty);
  const tooDeep = findTooDeep(text);
  if (tooDeep !== undefined) fail(tooDeep, `nested deeper than ${MAX_CONFIG_DEPTH} levels`, "Remove the nesting");
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) fail(first.offset, `is not valid JSON: ${toWords(first)}`, "Correct the file at this position");
  if (!tree) return fail(0, "has no value", whenEmpty);
  return toValue(tree, (key) => {
    fail(key.offset, `the key ${quote(String(key.value))} is duplicated`, "Remove one of them");
  });
}

/** Returns the position of the key or value of a path, or of the nearest parent that exists. */
export function createLocate(rawText: string): Locate {
  const text = withoutMark(rawText);
  const tree = findTooDeep(text) === undefined ? parseTree(text, [], { allowTrailingComma: true }) : undefined;
  const positionAt = createPositionAt(text);
  return ({ path, anchor }) => {
    if (!tree) return undefined;
    const node = findNode(tree, path);
    const key = node.found && anchor === "key" && node.node.parent?.type === "property" ? node.node.parent : undefined;
    return positionAt((key ?? node.node).offset);
  };
}

function findNode(tree: Node, path: KeyPath): { readonly node: Node; readonly found: boolean } {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, path.slice(0, length));
    if (node) return { node, found: length === path.length };
  }
  return { node: tree, found: path.length === 0 };
}

/** Returns the offset where the nesting is too deep. The parser recurses, so hostile nesting must not reach it. */
function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const token = text.charAt(scanner.getTokenOffset());
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (depth > MAX_CONFIG_DEPTH) return scanner.getTokenOffset();
  }
  return undefined;
}

/** Creates own properties only, so that a key `__proto__` is checked and never becomes a prototype. */
function toValue(node: Node, refuseDuplicate: (key: Node) => void): unknown {
  const children = node.children ?? [];
  if (node.type === "array") return children.map((child) => toValue(child, refuseDuplicate));
  if (node.type !== "object") return node.value;
  const entries = new Map<string, unknown>();
  for (const { children: [key, value] = [] } of children) {
    if (!key || !value) continue;
    if (entries.has(String(key.value))) refuseDuplicate(key);
    entries.set(String(key.value), toValue(value, refuseDuplicate));
  }
  return Object.fromEntries(entries);
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

function createPositionAt(text: string): (offset: number) => FilePosition {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (match) => match.index + match[0].length)];
  return (offset) => {
    const index = starts.findLastIndex((start) => start <= offset);
    return { line: index + 1, column: offset - (starts[index] ?? 0) + 1 };
  };
}

/** "CommaExpected" becomes "comma expected". */
function toWords(error: ParseError): string {
  return printParseErrorCode(error.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}
