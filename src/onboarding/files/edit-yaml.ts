/** Reads YAML, and edits one mapping or sequence of it as text. */

import { isMap, isPair, isScalar, isSeq, parseDocument, stringify } from "yaml";
import type { Document, Node, Pair } from "yaml";

import type { Json } from "../../domain/index.ts";
import type { FileEditor } from "./file-editor.ts";
import { refuseText } from "./file-editor.ts";

const INDENT = "  ";

export const yamlEditor: FileEditor = {
  parse(text, path) {
    const document = parseDocument(text);
    const [first] = document.errors;
    if (first) throw refuseText(path, text, first.pos[0], first.message.split("\n")[0] ?? "");
    const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    return value;
  },
  set(text, slot, name, entry) {
    const kept = yamlEditor.remove(text, slot, name);
    const [key = ""] = slot.keys;
    const document = parseDocument(kept);
    const pair = findPair(document, key);
    const items = pair && listItems(pair.value);
    const lines = writeItem(name, entry, slot.isList);
    if (!pair) return `${endWithLine(kept)}${stringify({ [key]: null }).replace(" null", "")}${indent(lines, INDENT)}`;
    const last = items?.at(-1);
    if (!last) return fillEmpty(kept, pair, lines);
    const end = kept.indexOf("\n", last.end - 1);
    const at = end === -1 ? kept.length : end + 1;
    const before = endWithLine(kept.slice(0, at));
    return before + indent(lines, " ".repeat(columnOf(kept, last.start))) + kept.slice(at);
  },
  remove(text, { keys }, name) {
    const pair = findPair(parseDocument(text), keys[0] ?? "");
    const items = pair ? listItems(pair.value) : [];
    const found = items.filter((item) => item.name === name);
    if (!pair || found.length === 0) return text;
    if (found.length === items.length) return emptyOut(text, pair);
    return found.reduceRight((rest, { start, end }) => {
      const from = rest.lastIndexOf("\n", start) + 1;
      const line = rest.indexOf("\n", end - 1);
      return rest.slice(0, from) + rest.slice(line === -1 ? rest.length : line + 1);
    }, text);
  },
};

interface Item {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

function findPair(document: Document.Parsed, key: string): Pair<Node, Node | null> | undefined {
  if (!isMap<Node, Node | null>(document.contents)) return undefined;
  return document.contents.items.find((pair) => isPair(pair) && isScalar(pair.key) && pair.key.value === key);
}

/** Items of a mapping or sequence in block style. Others are left to the check of the whole edit. */
function listItems(value: Node | null): readonly Item[] {
  if (isMap<Node, Node | null>(value) && value.flow !== true)
    return value.items.flatMap(({ key, value: entry }) =>
      isScalar(key) && key.range
        ? [{ name: String(key.value), start: key.range[0], end: entry?.range?.[1] ?? key.range[1] }]
        : [],
    );
  if (!isSeq<Node>(value) || value.flow === true) return [];
  return value.items.flatMap((item) => {
    const name = isMap(item) ? item.get("name") : undefined;
    return item.range ? [{ name: String(name), start: item.range[0], end: item.range[1] }] : [];
  });
}

/** For an item of a sequence, the column of its dash. */
function columnOf(text: string, start: number): number {
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const dash = /^( *)- +$/.exec(line);
  return dash ? (dash[1] ?? "").length : line.length;
}

function writeItem(name: string, entry: Json, isListItem: boolean): string {
  return stringify(isListItem ? [entry] : { [name]: entry }, { indent: INDENT.length, lineWidth: 0 });
}

function indent(lines: string, by: string): string {
  return lines.replaceAll(/^(?=.)/gm, by);
}

/** `key:` with nothing, `key: {}` or `key: []` gets its first item. */
function fillEmpty(text: string, pair: Pair<Node, Node | null>, lines: string): string {
  const [colon, end] = findValue(text, pair);
  const rest = text.slice(end).replace(/^[ \t]*(#[^\n]*)?\n?/, (whole) => (whole.includes("#") ? whole : ""));
  return `${text.slice(0, colon)}\n${indent(lines, INDENT)}${rest}`;
}

/** Comments that have a line of their own stay. */
function emptyOut(text: string, pair: Pair<Node, Node | null>): string {
  const [colon, end] = findValue(text, pair);
  const line = text.indexOf("\n", end - 1);
  const comments = text.slice(colon, end).match(/^[ \t]*#.*$/gm) ?? [];
  const empty = ` ${isSeq(pair.value) ? "[]" : "{}"}`;
  return text.slice(0, colon) + [empty, ...comments].join("\n") + (line === -1 ? "" : text.slice(line));
}

/** From behind the colon of the key to the end of its value. */
function findValue(text: string, { key, value }: Pair<Node, Node | null>): readonly [number, number] {
  const colon = text.indexOf(":", key.range?.[1] ?? 0) + 1;
  return [colon, Math.max(colon, value?.range?.[1] ?? colon)];
}

function endWithLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
