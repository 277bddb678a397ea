/**
 * Reads a part of a kept value: a path, a page, or what contains a string. `grep` compares literally, because a regular
 * expression of a program could keep the gateway busy for minutes.
 */

import { GloveboxError, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, ResultQuery } from "../../domain/index.ts";
import { writeJson } from "../../text/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

import type { ResultPart } from "../kept-results.ts";

/** Lines before and after a line that matches. */
const CONTEXT_LINES = 2;

/** A search that finds more must ask for pages. */
const MAX_MATCHES = 100_000;
/** Comparing this many characters takes a fraction of a millisecond. */
const CHARS_PER_PAUSE = 64 * 1024;
/** What a comparison costs besides its characters. */
const COMPARISON_CHARS = 16;
/** The other half of a surrogate pair, and a letter on each side. */
const NEIGHBORS = 4;

/** Throws `REQUEST_INVALID` for a path that does not exist, and for a page of a value without parts. */
export function readPart(value: Json, query: ResultQuery): ResultPart {
  return runAtOnce(readInSlices(value, query));
}

/** The same with pauses in a search. Throws `LIMIT_SIZE` for a search with too many matches in one page. */
export function* readInSlices(value: Json, query: ResultQuery): SlicedWork<ResultPart> {
  const found = query.path === undefined ? value : findPath(value, query.path);
  if (query.grep !== undefined) return yield* grep(found, query.grep.toLowerCase(), query);
  if (Array.isArray(found)) return readItems(found, query);
  if (typeof found === "string") return readCharacters(found, query);
  if (query.offset === undefined && query.limit === undefined) return { value: found };
  if (!isJsonObject(found)) throw withoutParts(found);
  const { value: keys, ...page } = readItems(Object.keys(found), query);
  return { value: Object.fromEntries(keys.map((key) => [key, found[key] ?? null])), ...page };
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

/** Parts of a value that are searched, and how they are shown if the text of one contains the wanted one. */
interface Searched {
  readonly parts: readonly Json[];
  readonly show: () => Json;
}

/** Shows only the matches of the page, and counts the others. */
function* grep(value: Json, wanted: string, query: ResultQuery): SlicedWork<ResultPart> {
  const { offset = 0, limit = Infinity } = query;
  const page: Json[] = [];
  let total = 0;
  let compared = 0;
  for (const { parts, show } of listSearched(value)) {
    let isMatch = false;
    for (const part of parts) {
      const text = typeof part === "string" ? part : yield* writeJson(part);
      isMatch ||= yield* contains(text, wanted);
      compared += text.length;
    }
    if (isMatch) {
      if (total >= offset && total < offset + limit) page.push(show());
      if (page.length > MAX_MATCHES) throw tooManyMatches();
      total += 1;
    }
    compared += COMPARISON_CHARS;
    if (compared < CHARS_PER_PAUSE) continue;
    compared = 0;
    yield;
  }
  return { value: page, total, ...pageOf(total, query).next };
}

/** Without regard to case. A long text is compared in parts, each with the end of the one before it. */
function* contains(text: string, wanted: string): SlicedWork<boolean> {
  if (text.length <= CHARS_PER_PAUSE) return text.toLowerCase().includes(wanted);
  for (let start = 0; start < text.length; start += CHARS_PER_PAUSE) {
    // How a letter becomes a small one may depend on its neighbors.
    const from = Math.max(0, start - wanted.length - NEIGHBORS);
    if (
      text
        .slice(from, start + CHARS_PER_PAUSE)
        .toLowerCase()
        .includes(wanted)
    )
      return true;
    yield;
  }
  return false;
}

function* listSearched(value: Json): Generator<Searched> {
  if (typeof value === "string") {
    yield* listLines(value);
  } else if (typeof value !== "object" || value === null) {
    yield { parts: [value], show: () => ({ value }) };
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      yield { parts: [key, item], show: () => ({ key, value: item }) };
    }
  } else {
    for (const [index, item] of value.entries()) yield { parts: [item], show: () => ({ index, item }) };
  }
}

/** Without splitting the text, which may have millions of lines. */
function* listLines(text: string): Generator<Searched> {
  let line = 1;
  for (let start = 0; start <= text.length; line += 1) {
    const [from, at, end] = [start, line, endOfLine(text, start)];
    const own = text.slice(from, end);
    yield {
      parts: [own],
      show: () => ({ line: at, text: own, before: linesBefore(text, from), after: linesAfter(text, end) }),
    };
    start = end + 1;
  }
}

function linesBefore(text: string, from: number): readonly string[] {
  const lines: string[] = [];
  for (let end = from - 1; end >= 0 && lines.length < CONTEXT_LINES;) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    lines.unshift(text.slice(start, end));
    end = start - 1;
  }
  return lines;
}

function linesAfter(text: string, before: number): readonly string[] {
  const lines: string[] = [];
  for (let start = before + 1; start <= text.length && lines.length < CONTEXT_LINES;) {
    const end = endOfLine(text, start);
    lines.push(text.slice(start, end));
    start = end + 1;
  }
  return lines;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function tooManyMatches(): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `grep found more than ${MAX_MATCHES} matches`, {
    hint: "Read them in pages with offset and limit, or search for a longer string",
  });
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
  const keys = Object.keys(value);
  const shown = keys.slice(0, MAX_SHOWN_KEYS).map((key) => key.slice(0, 50));
  return `It has ${shown.join(", ")}${keys.length > MAX_SHOWN_KEYS ? ", …" : ""}`;
}
