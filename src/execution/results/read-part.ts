/**
 * Reads a part of a kept value: a path, a page, or what contains a string. `grep` compares literally, because a regular
 * expression of a program could keep the gateway busy for minutes.
 */

import { GloveboxError, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, ResultQuery } from "../../domain/index.ts";

import type { ResultPart } from "../kept-results.ts";

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
  const message = `The value is ${what}; offset and limit need an array, an object or a string`;
  const hint = "Omit offset and limit, or select an array, an object or a string with path";
  return new GloveboxError("REQUEST_INVALID", message, { hint });
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

const MAX_PATH_CHARS = 1_000;
const MAX_SHOWN_KEYS = 20;
const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/**
 * Finds a value by a simple path such as `issues[0].user["full name"]`, without patterns or expressions. Throws
 * `REQUEST_INVALID` for an invalid path or one that does not exist; the hint describes what exists instead.
 */
function findPath(value: Json, path: string): Json {
  let found = value;
  let walked = "";
  for (const step of parsePath(path)) {
    const next = stepInto(found, step);
    if (next === undefined) throw nowhere(walked, step, found);
    walked += typeof step === "number" ? `[${step}]` : `.${step}`;
    found = next;
  }
  return found;
}

/** Own fields only: `constructor` is a key like any other. */
function stepInto(value: Json, step: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof step === "number" ? value[step] : undefined;
  if (!isJsonObject(value) || !Object.hasOwn(value, String(step))) return undefined;
  return value[String(step)];
}

function parsePath(path: string): readonly (string | number)[] {
  if (path.length > MAX_PATH_CHARS) throw malformed(`it is longer than ${MAX_PATH_CHARS} characters`);
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const found = STEP.exec(path);
    if (!found) throw malformed(`it is malformed from character ${at + 1} on`);
    const [, name, index, quoted] = found;
    steps.push(index === undefined ? (name ?? parseQuoted(quoted)) : Number(index));
  }
  return steps;
}

function parseQuoted(quoted = '""'): string {
  const name = parseJson(quoted);
  if (typeof name !== "string") throw malformed("a quoted name is not a JSON string");
  return name;
}

function malformed(why: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `The path is invalid: ${why}`, {
    hint: 'Write it as in issues[0].user["full name"]',
  });
}

function nowhere(walked: string, step: string | number, value: Json): GloveboxError {
  const where = walked === "" ? "The result" : walked.replace(/^\./, "").slice(0, 100);
  return new GloveboxError("REQUEST_INVALID", `${where} does not contain ${JSON.stringify(step)}`, {
    hint: describePlace(value),
  });
}

function describePlace(value: Json): string {
  if (Array.isArray(value)) return `It is an array of ${value.length} items`;
  if (!isJsonObject(value)) return `It is ${value === null ? "null" : `a ${typeof value}`}`;
  const keys = Object.keys(value).map((key) => key.slice(0, 50));
  return `It has ${keys.slice(0, MAX_SHOWN_KEYS).join(", ")}${keys.length > MAX_SHOWN_KEYS ? ", …" : ""}`;
}
