/**
 * Large JSON values in pieces, between which the thread can do other work: each function pauses after about
 * `PIECE_CHARS` characters. A value that is smaller takes one piece. All are for values of bounded depth.
 */

import { isJsonObject, mapTexts, parseJson } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";

/** Pauses at each `yield`, and returns its result at the end. */
type Pieces<T> = Generator<undefined, T>;

/** About a millisecond of work. */
export const PIECE_CHARS = 64 * 1024;
/** What every value takes besides its characters. */
const VALUE_CHARS = 8;

/** The JSON text of a value, with lone surrogates replaced by U+FFFD. */
export function* writeJson(value: Json): Pieces<string> {
  const parts: string[] = [];
  yield* writeInto(parts, value, { chars: 0 });
  if (parts.length > 1) yield;
  return parts.join("");
}

/** True for a value of more than about `PIECE_CHARS` characters; looks at no more of it. Also for values that are not JSON. */
export function isLarge(value: unknown): boolean {
  return countChars(value, PIECE_CHARS) >= PIECE_CHARS;
}

/** Like `mapTexts` of the domain. */
export function* mapLargeTexts(value: Json, change: (text: string) => string): Pieces<Json> {
  return yield* mapInto(value, change, { chars: 0 });
}

/** Like `parseJson` of the domain. */
export function* readJson(text: string): Pieces<Json | undefined> {
  const reader = { text, at: 0, pausedAt: 0 };
  const value = yield* readValue(reader);
  return skipSpace(reader) === text.length ? value : undefined;
}

/** The characters since the last pause. */
interface Piece {
  chars: number;
}

function* writeInto(parts: string[], value: Json, piece: Piece): Pieces<void> {
  const chars = countChars(value, PIECE_CHARS);
  let before = "";
  if (typeof value === "string" && value.length > PIECE_CHARS) {
    yield* writeText(parts, value);
  } else if (chars < PIECE_CHARS || typeof value !== "object" || value === null) {
    parts.push(toWellFormedJson(value));
    yield* pause(piece, chars);
  } else if (isJsonObject(value)) {
    parts.push("{");
    for (const key of Object.keys(value)) {
      parts.push(`${before}${toWellFormedJson(key)}:`);
      before = ",";
      yield* writeInto(parts, value[key] ?? null, piece);
    }
    parts.push("}");
  } else {
    parts.push("[");
    for (const item of value) {
      parts.push(before);
      before = ",";
      yield* writeInto(parts, item, piece);
    }
    parts.push("]");
  }
}

/** Never cuts a surrogate pair. */
function* writeText(parts: string[], text: string): Pieces<void> {
  parts.push('"');
  for (let start = 0; start < text.length;) {
    const last = text.charCodeAt(start + PIECE_CHARS - 1);
    const end = start + PIECE_CHARS - (last >= 0xd8_00 && last <= 0xdb_ff ? 1 : 0);
    parts.push(toWellFormedJson(text.slice(start, end)).slice(1, -1));
    start = end;
    yield;
  }
  parts.push('"');
}

/** JSON writes lone surrogates as escapes, which are easy to find. */
function toWellFormedJson(value: Json): string {
  const json = JSON.stringify(value);
  return /\\ud[89a-f]/i.test(json) ? JSON.stringify(mapTexts(value, (text) => text.toWellFormed())) : json;
}

function* mapInto(value: Json, change: (text: string) => string, piece: Piece): Pieces<Json> {
  const chars = countChars(value, PIECE_CHARS);
  if (chars < PIECE_CHARS || typeof value !== "object" || value === null) {
    const mapped = mapTexts(value, change);
    yield* pause(piece, chars);
    return mapped;
  }
  if (isJsonObject(value)) {
    const entries: [string, Json][] = [];
    for (const key of Object.keys(value)) {
      entries.push([change(key), yield* mapInto(value[key] ?? null, change, piece)]);
    }
    return Object.fromEntries(entries);
  }
  const items: Json[] = [];
  for (const item of value) items.push(yield* mapInto(item, change, piece));
  return items;
}

function* pause(piece: Piece, chars: number): Pieces<void> {
  piece.chars += chars;
  if (piece.chars < PIECE_CHARS) return;
  piece.chars = 0;
  yield;
}

/** Looks at no more than about `most` characters of it. */
function countChars(value: unknown, most: number): number {
  if (typeof value === "string") return VALUE_CHARS + value.length;
  let chars = VALUE_CHARS;
  if (typeof value !== "object" || value === null) return chars;
  const isList = Array.isArray(value);
  for (const [key, item] of isList ? value.entries() : Object.entries(value)) {
    if (chars >= most) return chars;
    chars += (typeof key === "string" ? key.length : 0) + countChars(item, most - chars);
  }
  return chars;
}

interface JsonReader {
  readonly text: string;
  at: number;
  pausedAt: number;
}

function* readValue(reader: JsonReader): Pieces<Json | undefined> {
  const start = skipSpace(reader);
  const end = findEnd(reader.text, start);
  if (end === undefined) return yield* reader.text[start] === "[" ? readItems(reader) : readFields(reader);
  reader.at = end;
  const value = parseJson(reader.text.slice(start, end));
  yield* pauseReading(reader);
  return value;
}

function* readItems(reader: JsonReader): Pieces<Json | undefined> {
  const items: Json[] = [];
  for (let next = "["; next !== "]"; next = takeChar(reader)) {
    if (next !== (items.length === 0 ? "[" : ",")) return undefined;
    if (items.length === 0) reader.at += 1;
    const item = yield* readValue(reader);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function* readFields(reader: JsonReader): Pieces<Json | undefined> {
  const entries: [string, Json][] = [];
  for (let next = "{"; next !== "}"; next = takeChar(reader)) {
    if (next !== (entries.length === 0 ? "{" : ",")) return undefined;
    if (entries.length === 0) reader.at += 1;
    const key = yield* readValue(reader);
    if (typeof key !== "string" || takeChar(reader) !== ":") return undefined;
    const item = yield* readValue(reader);
    if (item === undefined) return undefined;
    entries.push([key, item]);
  }
  return Object.fromEntries(entries);
}

function* pauseReading(reader: JsonReader): Pieces<void> {
  if (reader.at - reader.pausedAt < PIECE_CHARS) return;
  reader.pausedAt = reader.at;
  yield;
}

function takeChar(reader: JsonReader): string {
  const at = skipSpace(reader);
  reader.at = at + 1;
  return reader.text[at] ?? "";
}

const SPACES = new Set([" ", "\t", "\n", "\r"]);
const SCALAR = /[^\s,:[\]{}"]+/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function skipSpace(reader: JsonReader): number {
  while (SPACES.has(reader.text[reader.at] ?? "")) reader.at += 1;
  return reader.at;
}

/** Where a value ends, whether or not it is valid; `undefined` for an array or object that is longer than a piece. */
function findEnd(text: string, start: number): number | undefined {
  const first = text[start];
  if (first === '"') return findStringEnd(text, start);
  if (first !== "[" && first !== "{") {
    SCALAR.lastIndex = start;
    return SCALAR.test(text) ? SCALAR.lastIndex : start;
  }
  let depth = 0;
  for (let at = start; at < start + PIECE_CHARS && at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = findStringEnd(text, at) - 1;
    else if (char === 0x5b || char === 0x7b) depth += 1;
    else if (char === 0x5d || char === 0x7d) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

function findStringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}
