/**
 * Large JSON values in pieces, between which the thread can do other work: each function pauses after about
 * `PIECE_CHARS` characters. A value that is smaller takes one piece. All are for values that `findExcess` accepts.
 */

import { isJsonObject, mapTexts } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";

/** Pauses at each `yield`, and returns its result at the end. */
export type Pieces<T> = Generator<undefined, T>;

/**
 * The most keys of one object that crosses the wall. Listing the keys of an object is work in one piece, which would stop
 * the gateway for as long: about a second for a million keys.
 */
export const MOST_KEYS = 50_000;
/** About a millisecond of work. */
export const PIECE_CHARS = 64 * 1024;
/** What every value takes besides its characters. */
const VALUE_CHARS = 8;

/** The JSON text of a value, with lone surrogates replaced by U+FFFD. */
export function* writeJson(value: Json): Pieces<string> {
  const parts: string[] = [];
  yield* writeInto(parts, value);
  if (parts.length > 1) yield;
  return parts.join("");
}

/** True for a value of more than about `PIECE_CHARS` characters; looks at no more of it. Also for values that are not JSON. */
export function isLarge(value: unknown): boolean {
  return countChars(value, PIECE_CHARS) >= PIECE_CHARS;
}

/** Like `mapTexts` of the domain. */
export function* mapLargeTexts(value: Json, change: (text: string) => string): Pieces<Json> {
  if (!isContainer(value) || !isLarge(value)) return mapTexts(value, change);
  yield; // listing many keys is a piece of its own
  return yield* isJsonObject(value) ? mapFields(value, change) : mapItems(value, change);
}

/** What a value has too much of, and how much it may have. */
export interface Excess {
  readonly of: "depth" | "keys";
  readonly most: number;
}

/** What makes a value too large for the functions of this file, if anything. For any value, however deep. */
export function* findExcess(value: Json, mostDepth: number): Pieces<Excess | undefined> {
  // Values are read one by one by their keys: listing them takes three times as long, in one piece.
  const open: {
    readonly children: readonly Json[] | JsonObject;
    readonly keys: readonly string[] | undefined;
    next: number;
  }[] = [];
  let left = PIECE_CHARS / VALUE_CHARS;
  for (let child: Json | undefined = value; ;) {
    if (isContainer(child)) {
      if (open.length >= mostDepth) return { of: "depth", most: mostDepth };
      const keys = isJsonObject(child) ? Object.keys(child) : undefined;
      if (keys && keys.length > MOST_KEYS) return { of: "keys", most: MOST_KEYS };
      open.push({ children: child, keys, next: 0 });
    }
    child = undefined;
    while (child === undefined) {
      const last = open.at(-1);
      if (!last) return undefined;
      const { children, keys } = last;
      const key = keys?.[last.next];
      if (!isJsonObject(children)) child = children[last.next];
      else if (key !== undefined) child = children[key];
      last.next += 1;
      if (child === undefined) open.pop();
    }
    left -= 1;
    if (left > 0) continue;
    left = PIECE_CHARS / VALUE_CHARS;
    yield;
  }
}

function* writeInto(parts: string[], value: Json): Pieces<void> {
  if (typeof value === "string" && value.length > PIECE_CHARS) {
    yield* writeText(parts, value);
  } else if (!isContainer(value) || !isLarge(value)) {
    parts.push(toWellFormedJson(value));
  } else {
    yield;
    const [open, close] = isJsonObject(value) ? ["{", "}"] : ["[", "]"];
    parts.push(open);
    yield* isJsonObject(value) ? writeFields(parts, value) : writeItems(parts, value);
    parts.push(close);
  }
}

/** Small items are written in runs. */
function* writeItems(parts: string[], items: readonly Json[]): Pieces<void> {
  let start = 0;
  let chars = 0;
  const flush = (end: number): void => {
    if (end > start) parts.push(start > 0 ? "," : "", toWellFormedJson(items.slice(start, end)).slice(1, -1));
    start = end;
    chars = 0;
  };
  for (const [at, item] of items.entries()) {
    const size = countChars(item, PIECE_CHARS);
    chars += size;
    if (size < PIECE_CHARS && chars < PIECE_CHARS) continue;
    flush(at);
    yield;
    chars = size;
    if (size < PIECE_CHARS) continue;
    parts.push(at > 0 ? "," : "");
    yield* writeInto(parts, item);
    start = at + 1;
    chars = 0;
  }
  flush(items.length);
}

/** Small fields are written in runs. */
function* writeFields(parts: string[], fields: JsonObject): Pieces<void> {
  let run: [string, Json][] = [];
  let chars = 0;
  let before = "";
  const flush = (): void => {
    if (run.length > 0) parts.push(before, toWellFormedJson(Object.fromEntries(run)).slice(1, -1));
    if (run.length > 0) before = ",";
    run = [];
    chars = 0;
  };
  for (const key of Object.keys(fields)) {
    const item = fields[key] ?? null;
    const size = key.length + countChars(item, PIECE_CHARS);
    chars += size;
    if (size < PIECE_CHARS) {
      run.push([key, item]);
      if (chars < PIECE_CHARS) continue;
    }
    flush();
    yield;
    if (size < PIECE_CHARS) continue;
    parts.push(`${before}${toWellFormedJson(key)}:`);
    before = ",";
    yield* writeInto(parts, item);
  }
  flush();
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

/** The same array if nothing changes. */
function* mapItems(items: readonly Json[], change: (text: string) => string): Pieces<readonly Json[]> {
  let changed: Json[] | undefined;
  let chars = 0;
  for (const [at, item] of items.entries()) {
    const size = countChars(item, PIECE_CHARS);
    const mapped = size < PIECE_CHARS ? mapTexts(item, change) : yield* mapLargeTexts(item, change);
    if (mapped !== item) changed ??= items.slice(0, at);
    changed?.push(mapped);
    chars += size;
    if (chars < PIECE_CHARS) continue;
    chars = 0;
    yield;
  }
  return changed ?? items;
}

/** The same object if nothing changes. */
function* mapFields(fields: JsonObject, change: (text: string) => string): Pieces<JsonObject> {
  const entries: [string, Json][] = [];
  let isSame = true;
  let chars = 0;
  for (const key of Object.keys(fields)) {
    const item = fields[key] ?? null;
    const size = key.length + countChars(item, PIECE_CHARS);
    if (size >= PIECE_CHARS) yield;
    const name = change(key);
    const mapped = size < PIECE_CHARS ? mapTexts(item, change) : yield* mapLargeTexts(item, change);
    isSame &&= name === key && mapped === item;
    entries.push([name, mapped]);
    chars += size;
    if (chars < PIECE_CHARS) continue;
    chars = 0;
    yield;
  }
  return isSame ? fields : Object.fromEntries(entries);
}

function isContainer(value: Json): value is readonly Json[] | JsonObject {
  return typeof value === "object" && value !== null;
}

/** Looks at no more than about `most` characters of it. */
function countChars(value: unknown, most: number): number {
  if (typeof value === "string") return VALUE_CHARS + value.length;
  let chars = VALUE_CHARS;
  if (typeof value !== "object" || value === null) return chars;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (chars >= most) return chars;
      chars += countChars(item, most - chars);
    }
    return chars;
  }
  for (const key of Object.keys(value)) {
    if (chars >= most) return chars;
    chars += key.length + countChars(Reflect.get(value, key), most - chars);
  }
  return chars;
}
