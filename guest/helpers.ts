/**
 * Small functions for arrays of records, as globals that a program may shadow. Each takes a field's name or a function
 * of the item; `a.b` reads a field of a field.
 */

import { create, isArray, keys, sort, split, toText } from "./intrinsics.ts";

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

function mapList<Result>(list: readonly unknown[], change: (item: unknown) => Result): Result[] {
  const out: Result[] = [];
  for (let at = 0; at < list.length; at += 1) out[at] = change(list[at]);
  return out;
}

/** Copies the fields of one record, or of each in an array, whose names are kept. */
function copyFields(value: unknown, isKept: (name: string) => boolean): unknown {
  const copyRow = (item: unknown): unknown => {
    const row = (item ?? {}) as Row;
    const out: Record<string, unknown> = {};
    const names = keys(row);
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at] as string;
      if (isKept(name)) out[name] = row[name];
    }
    return out;
  };
  return isArray(value) ? mapList(value, copyRow) : copyRow(value);
}

/** Names may be single arguments or an array, as in other libraries. */
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
  return copyFields(value, (name) => has(names, name));
}

function omit(value: unknown, ...given: (string | string[])[]): unknown {
  const names = flatten(given);
  return copyFields(value, (name) => !has(names, name));
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

/** Adds numbers and numeric strings and skips missing values. Throws for other values, and for a field that no item has. */
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

/** A new array; items without a value come last in either order. Of several fields the first that differs decides. */
function sortBy(value: unknown, by: By | readonly By[], order: "asc" | "desc" = "asc"): unknown[] {
  const list = listOf(value);
  const fields = isArray(by) ? by : [by as By];
  const rows = mapList(list, (item) => ({ item, values: mapList(fields, (field) => valueBy(item, field as By)) }));
  const sign = order === "desc" ? -1 : 1;
  sort(rows, (a, b) => compareAll(a.values, b.values, sign));
  return mapList(rows, (row) => (row as Row)["item"]);
}

function compareAll(left: readonly unknown[], right: readonly unknown[], sign: number): number {
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

/** A markdown table. */
function table(value: unknown, ...given: (string | string[])[]): string {
  const list = listOf(value);
  const columns = flatten(given);
  const names = columns.length > 0 ? columns : columnsOf(list);
  let text = tableLine(names) + "\n" + tableLine(mapList(names, () => "---"));
  for (let at = 0; at < list.length; at += 1) {
    text += "\n" + tableLine(mapList(names, (name) => valueBy(list[at], name as string)));
  }
  return text;
}

function tableLine(cells: readonly unknown[]): string {
  let line = "|";
  for (let at = 0; at < cells.length; at += 1) line += " " + cell(cells[at]) + " |";
  return line;
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

/** One line, with the separator of cells escaped. */
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
