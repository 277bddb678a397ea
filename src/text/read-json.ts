/**
 * Reads large JSON in pieces, between which the thread can do other work. Scans the text once, without recursion, and
 * gives runs of whole items or fields to `JSON.parse`.
 */

import { isJsonObject, parseJson } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";

import { MOST_KEYS, PIECE_CHARS } from "./large-json.ts";
import type { Pieces } from "./large-json.ts";

/** Items and fields are parsed in runs of about this length. */
const RUN_CHARS = PIECE_CHARS / 4;
/** More than any value may nest. */
const MOST_LEVELS = 1_024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Space, tab, line feed and carriage return: no other character is white space in JSON. */
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Like `parseJson` of the domain, with one difference: what is nested deeper than any limit allows, and the fields of an
 * object beyond `MOST_KEYS` and one more, are left out. The value is still too deep or too wide for `findExcess`.
 */
export function* readJson(text: string): Pieces<Json | undefined> {
  if (text.length <= PIECE_CHARS) return parseJson(text);
  const reader = new JsonReader(text);
  for (;;) {
    const found = reader.scan();
    if (found === "invalid") return undefined;
    if (found === "end") return reader.finish();
    if (found === "string" && !(yield* reader.readString())) return undefined;
    yield;
  }
}

/** What follows a run: a comma, a value that is read on its own, or the end of its array or object. */
type Following = "comma" | "value" | "end";

/** An array or object that is longer than a piece, or the text itself, which is read like an array with one item. */
interface OpenValue {
  readonly items: Json[] | undefined;
  readonly fields: Record<string, Json>;
  keys: number;
  /** The key of the value that is read on its own. */
  key: string;
  /** What may come next. */
  expects: "first" | "next" | "comma";
  /** Where the text begins that is not parsed yet. */
  from: number;
}

/** The last string directly inside an open bracket: a key, if a value on its own follows. */
interface LastString {
  from: number;
  to: number;
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  /** From the outermost to the innermost. */
  readonly #values: OpenValue[] = [createValue(true, 0)];
  /** Open brackets inside the innermost value, and the last string inside of it and of each of them. */
  readonly #brackets: number[] = [];
  #strings: LastString[] = [{ from: -1, to: -1 }];
  /** Where the current string begins. */
  #stringAt = -1;
  #longString: LastString = { from: 0, to: 0 };
  /** Open brackets below the deepest level. */
  #skipped = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get #innermost(): OpenValue {
    const value = this.#values.at(-1);
    if (!value) throw new TypeError("No value is open");
    return value;
  }

  /** Reads about a piece further, or to the end of a long string. */
  scan(): "more" | "string" | "invalid" | "end" {
    const text = this.#text;
    const until = Math.min(this.#at + PIECE_CHARS, text.length);
    while (this.#at < until) {
      if (this.#stringAt >= 0) {
        const found = this.#endString();
        if (found === "more") continue;
        return found;
      }
      const at = this.#at;
      const char = text.charCodeAt(at);
      this.#at = at + 1;
      if (char === QUOTE) this.#stringAt = at;
      else if (char === COMMA) {
        const { from } = this.#innermost;
        const isRun = this.#skipped === 0 && this.#brackets.length === 0 && at - from > RUN_CHARS;
        if (isRun && !this.#takeRun(at, "comma")) return "invalid";
      } else if (char === OPEN_LIST || char === OPEN_OBJECT) {
        if (!this.#openBracket(at)) return "invalid";
      } else if ((char === CLOSE_LIST || char === CLOSE_OBJECT) && !this.#closeBracket(at, char)) return "invalid";
    }
    while (this.#brackets.length > 0 && this.#at - this.#innermost.from > PIECE_CHARS) {
      if (!this.#descend()) return "invalid";
    }
    return this.#at < text.length ? "more" : "end";
  }

  /** The whole text was scanned. */
  finish(): Json | undefined {
    const isWhole = this.#values.length === 1 && this.#brackets.length === 0 && this.#stringAt < 0;
    if (!isWhole || this.#skipped > 0 || !this.#takeRun(this.#text.length, "end")) return undefined;
    const { items = [] } = this.#innermost;
    return items.length === 1 ? items[0] : undefined;
  }

  /** Parses the long string that `scan` found; never cuts an escape sequence. False if it is not valid. */
  *readString(): Pieces<boolean> {
    const { from, to } = this.#longString;
    const parts: string[] = [];
    for (let start = from + 1; start < to - 1;) {
      const end = findCut(this.#text, start, Math.min(start + PIECE_CHARS, to - 1));
      const part = parseJson(`"${this.#text.slice(start, end)}"`);
      if (typeof part !== "string") return false;
      parts.push(part);
      start = end;
      yield;
    }
    this.#add(parts.join(""), to);
    return true;
  }

  /** Continues after the next quote. Returns "string" at the end of a long one that is a value. */
  #endString(): "more" | "string" | "invalid" {
    const text = this.#text;
    const quote = text.indexOf('"', this.#at);
    if (quote < 0) return "invalid";
    this.#at = quote + 1;
    let escapes = 0;
    while (text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 1) return "more";
    const found = { from: this.#stringAt, to: quote + 1 };
    this.#stringAt = -1;
    if (this.#skipped > 0) return "more";
    if (found.to - found.from > PIECE_CHARS && this.#isItem(found.from)) {
      this.#longString = found;
      return this.#descendAll() && this.#takeBefore(found.from) ? "string" : "invalid";
    }
    this.#strings[this.#brackets.length] = found;
    return "more";
  }

  /** Whether a string that begins here is a value, not a key. */
  #isItem(from: number): boolean {
    const bracket = this.#brackets.at(-1);
    const isList = bracket === undefined ? this.#innermost.items : this.#text.charCodeAt(bracket) === OPEN_LIST;
    const { to } = this.#strings[this.#brackets.length] ?? { to: -1 };
    return Boolean(isList) || (to >= 0 && this.#isBetween(to, from, ":"));
  }

  #openBracket(at: number): boolean {
    if (this.#skipped > 0) {
      this.#skipped += 1;
    } else if (this.#values.length + this.#brackets.length > MOST_LEVELS) {
      if (!this.#descendAll() || !this.#takeBefore(at)) return false;
      this.#skipped = 1;
    } else {
      this.#brackets.push(at);
      this.#strings.push({ from: -1, to: -1 });
    }
    return true;
  }

  #closeBracket(at: number, char: number): boolean {
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      if (this.#skipped === 0) this.#add(null, at + 1);
    } else if (this.#brackets.length > 0) {
      this.#brackets.pop();
      this.#strings.pop();
    } else {
      const { items, fields } = this.#innermost;
      const isOwn = this.#values.length > 1 && (char === CLOSE_LIST) === (items !== undefined);
      if (!isOwn || !this.#takeRun(at, "end")) return false;
      this.#values.pop();
      this.#add(items ?? fields, at + 1);
    }
    return true;
  }

  #descendAll(): boolean {
    while (this.#brackets.length > 0) if (!this.#descend()) return false;
    return true;
  }

  /** The first open bracket is long: it is read on its own. */
  #descend(): boolean {
    const bracket = this.#brackets[0] ?? 0;
    if (!this.#takeBefore(bracket)) return false;
    this.#brackets.shift();
    this.#strings.shift();
    this.#values.push(createValue(this.#text.charCodeAt(bracket) === OPEN_LIST, bracket + 1));
    return true;
  }

  /** Parses what comes before a value that is read on its own, with its key. */
  #takeBefore(at: number): boolean {
    const value = this.#innermost;
    if (value.items) return this.#takeRun(at, "value");
    const { from, to } = this.#strings[0] ?? { from: -1, to: -1 };
    const key = from >= value.from && this.#isBetween(to, at, ":") ? parseJson(this.#text.slice(from, to)) : undefined;
    if (typeof key !== "string") return false;
    value.key = key;
    return this.#takeRun(from, "value");
  }

  /** Parses the items or fields up to `to`. False if they are not valid. */
  #takeRun(to: number, following: Following): boolean {
    const value = this.#innermost;
    let run = this.#trim(value.from, to);
    value.from = to + 1;
    if (value.expects === "comma") {
      if (run === "") {
        value.expects = "next";
        return following !== "value";
      }
      if (!run.startsWith(",")) return false;
      run = run.slice(1);
      value.expects = "next";
      if (run === "") return following === "value";
    }
    if (run === "") return following === "value" || (following === "end" && value.expects === "first");
    if (following === "value") {
      if (!run.endsWith(",")) return false;
      run = run.slice(0, -1);
    }
    value.expects = "next";
    return parseRun(value, run);
  }

  /** Adds the value that was read on its own; the text continues at `from`. */
  #add(item: Json, from: number): void {
    const value = this.#innermost;
    if (value.items) value.items.push(item);
    else addField(value, value.key, item);
    value.expects = "comma";
    value.from = from;
  }

  #isBetween(from: number, to: number, text: string): boolean {
    return this.#trim(from, to) === text;
  }

  #trim(from: number, to: number): string {
    let [start, end] = [from, to];
    while (start < end && SPACES.has(this.#text.charCodeAt(start))) start += 1;
    while (end > start && SPACES.has(this.#text.charCodeAt(end - 1))) end -= 1;
    return this.#text.slice(start, end);
  }
}

/** False if the items or fields are not valid. */
function parseRun(value: OpenValue, run: string): boolean {
  if (value.keys > MOST_KEYS) return true;
  const parsed = parseJson(value.items ? `[${run}]` : `{${run}}`);
  if (parsed === undefined) return false;
  if (isJsonObject(parsed)) for (const [key, item] of Object.entries(parsed)) addField(value, key, item);
  else if (Array.isArray(parsed)) {
    if (parsed.length === 0) return false; // a comma without an item
    for (const item of parsed) value.items?.push(item);
  }
  return true;
}

function createValue(isList: boolean, from: number): OpenValue {
  return { items: isList ? [] : undefined, fields: {}, keys: 0, key: "", expects: "first", from };
}

function addField(value: OpenValue, key: string, item: Json): void {
  if (value.keys > MOST_KEYS) return;
  if (key === "__proto__") Object.defineProperty(value.fields, key, { value: item, ...ORDINARY });
  else value.fields[key] = item;
  value.keys += 1;
  // A key may be there twice.
  if (value.keys > MOST_KEYS) value.keys = Object.keys(value.fields).length;
}

const ORDINARY = { configurable: true, enumerable: true, writable: true };

const ESCAPE_CHARS = 6;

/** The last place up to `end` at which no escape sequence is cut. */
function findCut(text: string, start: number, end: number): number {
  for (let at = end - 1; at >= start && at > end - ESCAPE_CHARS; at -= 1) {
    if (text.charCodeAt(at) !== BACKSLASH) continue;
    let escapes = 1;
    while (at - escapes >= start && text.charCodeAt(at - escapes) === BACKSLASH) escapes += 1;
    const length = text[at + 1] === "u" ? ESCAPE_CHARS : 2;
    return escapes % 2 === 1 && at + length > end ? at : end;
  }
  return end;
}
