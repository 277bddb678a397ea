/**
 * Small functions for work on lists of records, as globals that a program may shadow. Each takes the name of a field or
 * a function where it needs to know what to look at; `a.b` reads a field of a field. What `Object.groupBy` or a method of arrays does as well is left out.
 */

import { create, isArray, keys, sortArray, split, toText } from "./intrinsics.ts";

type Row = Readonly<Record<string, unknown>>;
/** A field's name, or a function of the item. */
type By = string | ((item: unknown) => unknown);

function valueBy(item: unknown, by: By | undefined): unknown {
  if (by === undefined) return item;
  if (typeof by === "function") return by(item);
  if (typeof by !== "string") throw new TypeError("What to look at must be a field's name or a function");
  return fieldOf(item, by);
}

/** `a.b` is the field `b` of the field `a`, unless the item itself has a field of that whole name. */
function fieldOf(item: unknown, name: string): unknown {
  if (item === null || item === undefined) return undefined;
  const own = (item as Row)[name];
  if (own !== undefined) return own;
  const steps = split(name, ".");
  if (steps.length === 1) return undefined;
  let value: unknown = item;
  for (let at = 0; at < steps.length; at += 1) {
    if (value === null || value === undefined) return undefined;
    value = (value as Row)[steps[at] as string];
  }
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (isArray(value)) return value;
  throw new TypeError("The first argument must be an array");
}

/** Applies to one record or to each of a list. */
function each(value: unknown, change: (row: Row) => unknown): unknown {
  if (!isArray(value)) return change((value ?? {}) as Row);
  const out: unknown[] = [];
  for (let at = 0; at < value.length; at += 1) out[at] = change((value[at] ?? {}) as Row);
  return out;
}

/** Names may come one by one or in a list, as other libraries take them. */
function flatten(given: readonly (string | readonly string[])[]): readonly string[] {
  const names: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const one = given[at] as string | readonly string[];
    if (!isArray(one)) names[names.length] = one as string;
    else for (let inner = 0; inner < one.length; inner += 1) names[names.length] = one[inner] as string;
  }
  return names;
}

function has(names: readonly unknown[], name: string): boolean {
  for (let at = 0; at < names.length; at += 1) if (names[at] === name) return true;
  return false;
}

function pick(value: unknown, ...given: (string | string[])[]): unknown {
  const names = flatten(given);
  return each(value, (row) => copy(row, (name) => has(names, name)));
}

function omit(value: unknown, ...given: (string | string[])[]): unknown {
  const names = flatten(given);
  return each(value, (row) => copy(row, (name) => !has(names, name)));
}

function copy(row: Row, keeps: (name: string) => boolean): unknown {
  const out: Record<string, unknown> = {};
  const names = keys(row);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    if (keeps(name)) out[name] = row[name];
  }
  return out;
}

function first(value: unknown, size?: number): unknown {
  const list = listOf(value);
  return size === undefined ? list[0] : part(list, 0, size);
}

function last(value: unknown, size?: number): unknown {
  const list = listOf(value);
  return size === undefined
    ? list[list.length - 1]
    : part(list, size < list.length ? list.length - size : 0, list.length);
}

function part(list: readonly unknown[], from: number, to: number): unknown[] {
  const out: unknown[] = [];
  for (let at = from; at < to && at < list.length; at += 1) out[out.length] = list[at];
  return out;
}

/**
 * Texts that are numbers count; what has no value adds nothing; anything else is a mistake that a total would hide, and so
 * is a field that no item has.
 */
function sum(value: unknown, by?: By): number {
  const list = listOf(value);
  let total = 0;
  let isThere = list.length === 0 || typeof by !== "string";
  for (let at = 0; at < list.length; at += 1) {
    const item = valueBy(list[at], by);
    if (item !== undefined) isThere = true;
    if (item !== undefined && item !== null) total += numberOf(item, at);
  }
  if (!isThere) throw new TypeError("sum: no item has the field " + cell(by));
  return total;
}

function numberOf(value: unknown, at: number): number {
  const number = typeof value === "number" || (typeof value === "string" && value !== "") ? Number(value) : NaN;
  if (number === number) return number;
  const shown = typeof value === "object" ? "an object" : cell(value);
  throw new TypeError("sum: item " + at + " is " + (value === "" ? "an empty text" : shown) + ", not a number");
}

function count(value: unknown, by?: By): unknown {
  const list = listOf(value);
  if (by === undefined) return list.length;
  const counts = create(null) as Record<string, number>;
  for (let at = 0; at < list.length; at += 1) {
    const key = toText(valueBy(list[at], by));
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

function groupBy(value: unknown, by: By): unknown {
  const list = listOf(value);
  const groups = create(null) as Record<string, unknown[]>;
  for (let at = 0; at < list.length; at += 1) {
    const group = (groups[toText(valueBy(list[at], by))] ??= []);
    group[group.length] = list[at];
  }
  return groups;
}

/** A new list; what has no value comes last in either order. Of several fields the first that differs decides. */
function sortBy(value: unknown, by: By | readonly By[], order: "asc" | "desc" = "asc"): unknown[] {
  const list = listOf(value);
  const looks = isArray(by) ? by : [by as By];
  const rows: { readonly item: unknown; readonly values: readonly unknown[] }[] = [];
  for (let at = 0; at < list.length; at += 1) {
    const values: unknown[] = [];
    for (let look = 0; look < looks.length; look += 1) values[look] = valueBy(list[at], looks[look] as By);
    rows[at] = { item: list[at], values };
  }
  const sign = order === "desc" ? -1 : 1;
  sortArray(rows, (a, b) => compareAll((a as Row)["values"], (b as Row)["values"], sign));
  const out: unknown[] = [];
  for (let at = 0; at < rows.length; at += 1) out[at] = rows[at]?.item;
  return out;
}

function compareAll(a: unknown, b: unknown, sign: number): number {
  const [left, right] = [a as readonly unknown[], b as readonly unknown[]];
  for (let at = 0; at < left.length; at += 1) {
    const order = compare(left[at], right[at], sign);
    if (order !== 0) return order;
  }
  return 0;
}

function compare(a: unknown, b: unknown, sign: number): number {
  const [noA, noB] = [a === undefined || a === null || a !== a, b === undefined || b === null || b !== b];
  if (noA || noB) return Number(noA) - Number(noB);
  if ((a as number) < (b as number)) return -sign;
  return (a as number) > (b as number) ? sign : 0;
}

function unique(value: unknown, by?: By): unknown[] {
  const list = listOf(value);
  const seen = new Set<unknown>();
  const out: unknown[] = [];
  for (let at = 0; at < list.length; at += 1) {
    const before = seen.size;
    seen.add(valueBy(list[at], by));
    if (seen.size > before) out[out.length] = list[at];
  }
  return out;
}

function chunk(value: unknown, size: number): unknown[] {
  const list = listOf(value);
  if (!(size >= 1)) throw new RangeError("The size of a chunk must be at least 1");
  const out: unknown[] = [];
  for (let at = 0; at < list.length; at += size) out[out.length] = part(list, at, at + size);
  return out;
}

/** A markdown table: short to read for a person and a model. */
function table(value: unknown, ...given: (string | string[])[]): string {
  const list = listOf(value);
  const columns = flatten(given);
  const names = columns.length > 0 ? columns : columnsOf(list);
  let text = "|";
  let rule = "|";
  for (let at = 0; at < names.length; at += 1) {
    text += " " + cell(names[at]) + " |";
    rule += " --- |";
  }
  text += "\n" + rule;
  for (let at = 0; at < list.length; at += 1) {
    text += "\n|";
    for (let column = 0; column < names.length; column += 1)
      text += " " + cell(valueBy(list[at], names[column])) + " |";
  }
  return text;
}

function columnsOf(list: readonly unknown[]): string[] {
  const names: string[] = [];
  for (let at = 0; at < list.length; at += 1) {
    const own = keys(list[at] ?? {});
    for (let index = 0; index < own.length; index += 1) {
      const name = own[index] as string;
      if (!has(names, name)) names[names.length] = name;
    }
  }
  return names;
}

/** One line, without the sign that ends a cell. */
function cell(value: unknown): string {
  const text =
    value === undefined || value === null
      ? ""
      : typeof value === "object"
        ? (JSON.stringify(value) ?? "")
        : toText(value);
  let out = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    out += char === "|" ? "\\|" : char === "\n" || char === "\r" ? " " : char;
  }
  return out;
}

export const HELPERS = { pick, omit, first, last, sum, count, groupBy, sortBy, unique, table, chunk };
