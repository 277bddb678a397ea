/**
 * Reads a part of a kept value: a path, a page, or what contains a text. What is looked for is compared literally,
 * because a pattern of a program's own could keep the gateway busy for minutes.
 */

import { isJsonObject } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

import { findPath } from "./find-path.ts";

/** What to read. Offsets count items of a list, characters of a text, or matches of `grep`. */
export interface ResultQuery {
  readonly path?: string;
  readonly offset?: number;
  readonly limit?: number;
  /** Compared without regard to case. */
  readonly grep?: string;
}

/** A part of a result. */
export interface ResultPart {
  readonly value: Json;
  /** How many items, characters, bytes or matches there are in all, where a page of them was read. */
  readonly total?: number;
  /** The offset of the next page, when there is one. */
  readonly next?: number;
}

/** Lines before and after a line that matches. */
const CONTEXT_LINES = 2;

/** Throws `REQUEST_INVALID` for a path that leads nowhere. */
export function readPart(value: Json, query: ResultQuery): ResultPart {
  const found = query.path === undefined ? value : findPath(value, query.path);
  const matched = query.grep === undefined ? found : grep(found, query.grep.toLowerCase());
  if (Array.isArray(matched)) return readItems(matched, query);
  return typeof matched === "string" ? readCharacters(matched, query) : { value: matched };
}

function readItems(items: readonly Json[], query: ResultQuery): ResultPart {
  const { start, end, next } = pageOf(items.length, query);
  return { value: items.slice(start, end), total: items.length, ...next };
}

/** A page does not end inside of a character: that one begins the next page. */
function readCharacters(text: string, query: ResultQuery): ResultPart {
  const { start, end } = pageOf(text.length, query);
  const splits = end < text.length && end - start > 1 && isFirstHalf(text.charCodeAt(end - 1));
  const stop = splits ? end - 1 : end;
  const next = stop < text.length ? { next: stop } : {};
  return { value: text.slice(start, stop).toWellFormed(), total: text.length, ...next };
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff;
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
