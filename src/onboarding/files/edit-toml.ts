/** Reads TOML, and edits tables of it as text. */

import { TomlError, parse } from "smol-toml";

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { FileEditor } from "./file-editor.ts";
import { refuseText } from "./file-editor.ts";

const BARE_KEY = /^[A-Za-z0-9_-]+$/;
const HEADER = /^[ \t]*\[(?!\[)(.+)\][ \t]*(?:#.*)?$/;
const KEY_PART = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.|$)/y;

export const tomlEditor: FileEditor = {
  parse(text, path) {
    try {
      return parse(text);
    } catch (thrown) {
      if (!(thrown instanceof TomlError)) throw thrown;
      const lines = text.split("\n").slice(0, thrown.line - 1);
      const offset = lines.join("\n").length + (lines.length > 0 ? 1 : 0) + thrown.column - 1;
      throw refuseText(path, text, offset, thrown.message.split("\n")[0] ?? "");
    }
  },
  set(text, slot, name, entry) {
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const kept = tomlEditor.remove(text, slot, name);
    const gap = kept === "" ? "" : kept.endsWith("\n") ? eol : eol + eol;
    return kept + gap + writeTable([...slot.keys, name], isJsonObject(entry) ? entry : {}).join(eol) + eol;
  },
  /** Removes the table and the tables below it. A comment above the next table stays. */
  remove(text, { keys }, name) {
    const path = [...keys, name];
    const tables = findTables(text);
    return tables
      .filter(({ header }) => path.every((key, index) => header[index] === key))
      .reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
  },
};

interface Table {
  readonly header: readonly string[];
  readonly start: number;
  /** Behind its last line that is neither empty nor a comment. */
  readonly end: number;
}

function findTables(text: string): readonly Table[] {
  const tables: { header: readonly string[]; start: number; end: number }[] = [];
  let at = 0;
  let open: string | undefined;
  for (const line of text.split(/(?<=\n)/)) {
    const header = open === undefined ? readHeader(line) : undefined;
    const last = tables.at(-1);
    const isContent = open !== undefined || !/^\s*(?:#.*)?$/.test(line.trimEnd());
    if (header) tables.push({ header, start: at, end: at + line.length });
    // An array of tables belongs to no table that is edited here.
    else if (open === undefined && /^[ \t]*\[\[/.test(line)) tables.push({ header: [], start: at, end: at });
    else if (last && isContent) last.end = at + line.length;
    open = findOpenString(line, open);
    at += line.length;
  }
  return tables;
}

/** The delimiter of a string of several lines that is still open behind this line. */
function findOpenString(line: string, open: string | undefined): string | undefined {
  let inside = open;
  const tokens = /"""|'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#.*|\\./g;
  for (const [token] of line.matchAll(tokens)) {
    if (inside !== undefined) {
      if (token === inside) inside = undefined;
      else if (token.startsWith("#") && token.includes(inside)) inside = undefined;
    } else if (token === '"""' || token === "'''") inside = token;
  }
  return inside;
}

function readHeader(line: string): readonly string[] | undefined {
  const inner = HEADER.exec(line.replace(/\r?\n$/, ""))?.[1];
  if (inner === undefined) return undefined;
  const parts: string[] = [];
  KEY_PART.lastIndex = 0;
  for (let match = KEY_PART.exec(inner); match; match = KEY_PART.exec(inner)) {
    const [, quoted, literal, bare, end] = match;
    const part = quoted === undefined ? (literal ?? bare ?? "") : unquote(quoted);
    parts.push(part);
    if (end === "") return parts;
  }
  return undefined;
}

function unquote(quoted: string): string {
  const value: unknown = parse(`key = "${quoted}"`)["key"];
  return typeof value === "string" ? value : quoted;
}

function writeTable(path: readonly string[], table: JsonObject): readonly string[] {
  const header = `[${path.map(writeKey).join(".")}]`;
  return [header, ...Object.entries(table).map(([key, value]) => `${writeKey(key)} = ${writeValue(value)}`)];
}

function writeKey(key: string): string {
  return BARE_KEY.test(key) ? key : writeText(key);
}

function writeValue(value: Json): string {
  if (typeof value === "string") return writeText(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => writeValue(item)).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, one]) => `${writeKey(key)} = ${writeValue(one)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

/** JSON escapes everything that a basic string must escape, except the delete character. */
function writeText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007F");
}
