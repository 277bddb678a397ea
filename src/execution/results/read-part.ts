/**
 * Reads a part of a kept value: a path, a page, or what contains a string. `grep` compares literally, because a regular
 * expression of a program could keep the gateway busy for minutes.
 */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, ResultQuery } from "../../domain/index.ts";

import type { ResultPart } from "../kept-results.ts";
import { findPath } from "./find-path.ts";

/** Lines before and after a line that matches. */
const CONTEXT_LINES = 2;

/** Throws `REQUEST_INVALID` for a path that does not exist, and for a page of a value without parts. */
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
  return new GloveboxError(
    "REQUEST_INVALID",
    `The value is ${what}; offset and limit need an array, an object or a string`,
    {
      hint: "Omit offset and limit, or select an array, an object or a string with path",
    },
  );
}

function readItems<Item>(items: readonly Item[], query: ResultQuery): Omit<ResultPart, "value"> & { value: Item[] } {
  const { start, end, next } = pageOf(items.length, query);
  return { value: items.slice(start, end), total: items.length, ...next };
}

/**
 * A page never splits a surrogate pair: it starts with the whole pair, and a pair that does not fit starts the next page.
 * A page of one unit returns a whole pair, because otherwise reading would never end.
 */
function readCharacters(text: string, query: ResultQuery): ResultPart {
  const page = pageOf(text.length, query);
  const start = isInside(text, page.start) ? page.start - 1 : page.start;
  const before = isInside(text, page.end) ? page.end - 1 : page.end;
  const stop = before > start || page.end === page.start ? before : page.end + 1;
  const next = stop < text.length ? { next: stop } : {};
  return { value: text.slice(start, stop).toWellFormed(), total: text.length, ...next };
}

/** True between the two halves of a surrogate pair. */
function isInside(text: string, at: number): boolean {
  const [first, second] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return first >= 0xd8_00 && first <= 0xdb_ff && second >= 0xdc_00 && second <= 0xdf_ff;
}

/** The start and the end of a page, and the offset of the next one. */
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
