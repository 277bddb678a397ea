/**
 * Reads a part of a kept value: a path, a page, or what contains a text. What is looked for is compared literally,
 * because a pattern of a program's own could keep the gateway busy for minutes.
 */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, ResultQuery } from "../../domain/index.ts";

import { findPath } from "./find-path.ts";

/** A part of a result. */
export interface ResultPart {
  readonly value: Json;
  /** How many items, entries, characters, bytes or matches there are in all, where a page of them was read. */
  readonly total?: number;
  /** The offset of the next page, when there is one. */
  readonly next?: number;
}

/** Lines before and after a line that matches. */
const CONTEXT_LINES = 2;

/** Throws `REQUEST_INVALID` for a path that leads nowhere, and for a page of what has no parts. */
export function readPart(value: Json, query: ResultQuery): ResultPart {
  const found = query.path === undefined ? value : findPath(value, query.path);
  const matched = query.grep === undefined ? found : grep(found, query.grep.toLowerCase());
  if (Array.isArray(matched)) return readItems(matched, query);
  if (typeof matched === "string") return readCharacters(matched, query);
  if (query.offset === undefined && query.limit === undefined) return { value: matched };
  if (!isJsonObject(matched)) throw withoutParts(matched);
  const { value: entries, ...page } = readItems(Object.entries(matched), query);
  return { value: Object.fromEntries(entries), ...page };
}

function withoutParts(value: Json): GloveboxError {
  const what = value === null ? "null" : `a ${typeof value}`;
  return new GloveboxError("REQUEST_INVALID", `There is ${what}, of which offset and limit can read no part`, {
    hint: "Leave offset and limit out, or name a list, an object or a text with path",
  });
}

function readItems<Item>(items: readonly Item[], query: ResultQuery): Omit<ResultPart, "value"> & { value: Item[] } {
  const { start, end, next } = pageOf(items.length, query);
  return { value: items.slice(start, end), total: items.length, ...next };
}

/**
 * A page neither begins nor ends inside of a character of two units: it begins with the whole of it, and one that does
 * not fit any more begins the next page. A page of one unit gives such a character whole, or it would never end.
 */
function readCharacters(text: string, query: ResultQuery): ResultPart {
  const page = pageOf(text.length, query);
  const start = isInside(text, page.start) ? page.start - 1 : page.start;
  const before = isInside(text, page.end) ? page.end - 1 : page.end;
  const stop = before > start || page.end === page.start ? before : page.end + 1;
  const next = stop < text.length ? { next: stop } : {};
  return { value: text.slice(start, stop).toWellFormed(), total: text.length, ...next };
}

/** True between the two units of one character. */
function isInside(text: string, at: number): boolean {
  const [first, second] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return first >= 0xd8_00 && first <= 0xdb_ff && second >= 0xdc_00 && second <= 0xdf_ff;
}

/** Where a page starts and ends, and where the next one would. */
export function pageOf(
  total: number,
  { offset = 0, limit = total }: ResultQuery,
): { readonly start: number; readonly end: number; readonly next: { readonly next?: number } } {
  const start = Math.min(offset, total);
  const end = Math.min(start + limit, total);
  return { start, end, next: end < total ? { next: end } : {} };
}

function grep(value: Json, wanted: string): Json {
  if (typeof value === "string") return grepLines(value.split("\n"), wanted);
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, index) => (contains(item, wanted) ? [{ index, item }] : []));
  }
  if (!isJsonObject(value)) return contains(value, wanted) ? [{ value }] : [];
  return Object.entries(value).flatMap(([key, item]) =>
    key.toLowerCase().includes(wanted) || contains(item, wanted) ? [{ key, value: item }] : [],
  );
}

function grepLines(lines: readonly string[], wanted: string): Json {
  return lines.flatMap((text, at) => {
    if (!text.toLowerCase().includes(wanted)) return [];
    const before = lines.slice(Math.max(0, at - CONTEXT_LINES), at);
    return [{ line: at + 1, text, before, after: lines.slice(at + 1, at + 1 + CONTEXT_LINES) }];
  });
}

function contains(value: Json, wanted: string): boolean {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.toLowerCase().includes(wanted);
}
