/** Reads JSON with comments, and edits one property of it as text. */

import { createScanner, findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";

import type { Json } from "../../domain/index.ts";
import type { FileEditor } from "./file-editor.ts";
import { refuseText } from "./file-editor.ts";

const BYTE_ORDER_MARK = "\ufeff";
const FIRST_INDENT = /^([ \t]+)\S/m;
const REST_OF_LINE = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*\*\/[ \t]*)?(?=\r?\n)/;

export const jsonEditor: FileEditor = {
  parse(raw, path) {
    const text = toBody(raw);
    if (text.trim() === "") return {};
    const errors: ParseError[] = [];
    const tree = parseTree(text, errors, { allowTrailingComma: true });
    const [first] = errors;
    if (first || !tree)
      throw refuseText(path, text, first?.offset ?? 0, first ? printParseErrorCode(first.error) : "has no value");
    const value: unknown = getNodeValue(tree);
    return value;
  },
  set: (raw, { keys }, name, entry) => editBody(raw, (text) => setProperty(text, [...keys, name], entry)),
  remove: (raw, { keys }, name) => editBody(raw, (text) => removeProperty(text, [...keys, name])),
};

function editBody(raw: string, edit: (text: string) => string): string {
  const text = toBody(raw);
  return raw.slice(0, raw.length - text.length) + edit(text.trim() === "" ? "{}\n" : text);
}

function toBody(raw: string): string {
  return raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(BYTE_ORDER_MARK.length) : raw;
}

/** Replaces the value, or adds the property, and the objects around it that are missing, at the end. */
function setProperty(text: string, path: readonly string[], value: Json): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (!tree) return text;
  const found = findNodeAtLocation(tree, [...path]);
  const unit = FIRST_INDENT.exec(text)?.[1] ?? "  ";
  if (found) return splice(text, found.offset, found.length, write(value, indentAt(text, found.offset), unit, text));
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(tree, path.slice(0, depth))?.type !== "object") depth -= 1;
  const parent = depth === 0 ? tree : findNodeAtLocation(tree, path.slice(0, depth));
  if (parent?.type !== "object") return text;
  const [key = "", ...rest] = path.slice(depth);
  const nested = rest.reduceRight<Json>((inner, one) => ({ [one]: inner }), value);
  return addProperty(text, parent, { key, value: nested, unit });
}

function addProperty(
  text: string,
  parent: Node,
  { key, value, unit }: { readonly key: string; readonly value: Json; readonly unit: string },
): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const base = indentAt(text, parent.offset);
  const last = parent.children?.at(-1);
  const inner = text.slice(parent.offset, parent.offset + parent.length);
  const isOneLine = last !== undefined && !inner.includes("\n");
  const indent = last && !isOneLine ? indentAt(text, last.offset) : base + unit;
  const property = `${JSON.stringify(key)}: ${isOneLine ? JSON.stringify(value) : write(value, indent, unit, text)}`;
  if (!last) {
    const rest = text.slice(parent.offset + 1);
    const gap = /^[ \t]*\}/.test(rest) ? eol + base : "";
    return splice(text, parent.offset + 1, gap === "" ? 0 : rest.indexOf("}"), eol + indent + property + gap);
  }
  const end = last.offset + last.length;
  const comma = findComma(text, end);
  const behind = comma === undefined ? end : comma + 1;
  const withComma = comma === undefined ? splice(text, end, 0, ",") : text;
  const at = behind + (comma === undefined ? 1 : 0);
  if (isOneLine) return splice(withComma, at, 0, ` ${property}`);
  const comment = REST_OF_LINE.exec(withComma.slice(at))?.[0].length ?? 0;
  return splice(withComma, at + comment, 0, eol + indent + property);
}

/** Comments stay. A line that has nothing left is removed. */
function removeProperty(text: string, path: readonly string[]): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const property = tree && findNodeAtLocation(tree, [...path])?.parent;
  const siblings = property?.parent?.children ?? [];
  if (!property) return text;
  const index = siblings.indexOf(property);
  const after = findComma(text, property.offset + property.length);
  const previous = siblings[index - 1];
  const before = after === undefined && previous ? findComma(text, previous.offset + previous.length) : undefined;
  const end = (after ?? property.offset + property.length - 1) + 1;
  const start = property.offset;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const isAlone = /^[ \t]*$/.test(text.slice(lineStart, start)) && /^[ \t]*(?:\r?\n|$)/.test(text.slice(end));
  const lineEnd = text.indexOf("\n", end);
  const removed =
    isAlone && lineEnd !== -1
      ? text.slice(0, lineStart) + text.slice(lineEnd + 1)
      : text.slice(0, start) + text.slice(end).replace(/^ (?=\S)/, "");
  const edited = before === undefined ? removed : splice(removed, before, 1, "");
  const parent = siblings.length === 1 ? property.parent?.offset : undefined;
  return parent === undefined ? edited : edited.slice(0, parent) + edited.slice(parent).replace(/^\{\s*\}/, "{}");
}

/** The offset of the comma that follows, behind comments. */
function findComma(text: string, from: number): number | undefined {
  const scanner = createScanner(text.slice(from), true);
  scanner.scan();
  const at = from + scanner.getTokenOffset();
  return text.charAt(at) === "," ? at : undefined;
}

function write(value: Json, indent: string, unit: string, text: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
}

/** The white space at the start of the line of this offset. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function splice(text: string, at: number, length: number, insert: string): string {
  return text.slice(0, at) + insert + text.slice(at + length);
}
