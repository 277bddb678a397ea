/** The shape of a row: its type and the parser of its columns in one. A value of another type means a damaged store. */

import { GloveboxError, isJsonObject, parseExecutionId, parseJson, parseToolAddress } from "../domain/index.ts";
import type { LabelSource } from "../domain/index.ts";

/** A row from the database, not checked yet. */
export type RawRow = Readonly<Record<string, unknown>>;
type ReadColumn<Value> = (value: unknown, column: string) => Value;
type Columns = Readonly<Record<string, ReadColumn<unknown>>>;
type OptionalKeys<Shape extends Columns> = {
  [Key in keyof Shape]: undefined extends ReturnType<Shape[Key]> ? Key : never;
}[keyof Shape];

/** The fields of a row. The column of `remoteName` is `remote_name`. */
type Fields<Shape extends Columns> = {
  readonly [Key in Exclude<keyof Shape, OptionalKeys<Shape>>]: ReturnType<Shape[Key]>;
} & { readonly [Key in OptionalKeys<Shape>]?: Exclude<ReturnType<Shape[Key]>, undefined> };

export interface RowShape<Row> {
  /** The names of the columns, for a statement. */
  readonly columns: string;
  readonly parse: (raw: RawRow) => Row;
  readonly parseIfFound: (raw: RawRow | undefined) => Row | undefined;
  /** Returns the values in the order of `columns`. */
  readonly toValues: (row: Row) => readonly (string | number | Uint8Array | null)[];
}

export type RowOf<Shape> = Shape extends RowShape<infer Row> ? Row : never;

export function createShape<Shape extends Columns>(shape: Shape): RowShape<Fields<Shape>> {
  const fields = Object.entries(shape).map(([name, read]) => ({
    name,
    column: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    read,
  }));
  /** Fills `row` with every column. A column that cannot be read throws. */
  function readFields(
    row: Record<string, unknown>,
    raw: RawRow,
  ): asserts row is Record<string, unknown> & Fields<Shape> {
    for (const { name, column, read } of fields) {
      const value = read(raw[column], column);
      if (value !== undefined) row[name] = value;
    }
  }
  const parse = (raw: RawRow): Fields<Shape> => {
    const row: Record<string, unknown> = {};
    readFields(row, raw);
    return row;
  };
  return {
    columns: fields.map(({ column }) => column).join(", "),
    parse,
    parseIfFound: (raw) => raw && parse(raw),
    toValues: (row: RawRow) => fields.map(({ name }) => toValue(row[name])),
  };
}

function toValue(value: unknown): string | number | Uint8Array | null {
  if (typeof value === "string" || typeof value === "number" || value instanceof Uint8Array) return value;
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** Reads one column of a row that has no shape. */
export function readColumn<Value>(raw: RawRow | undefined, column: string, read: ReadColumn<Value>): Value {
  return read(raw?.[column], column);
}

export function text(value: unknown, column: string): string {
  if (typeof value !== "string") throw damaged(`${column} is not a string`);
  return value;
}

export function integer(value: unknown, column: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw damaged(`${column} is not an integer`);
  return value;
}

/** An integer above the safe integers becomes an unsafe number, which the caller reports. */
export function anyInteger(value: unknown, column: string): number {
  return typeof value === "bigint" ? Number(value) : integer(value, column);
}

export function bytes(value: unknown, column: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw damaged(`${column} is not a byte array`);
  return value;
}

/** A column with a parser, such as that of an id. */
export function parsed<Value>(parse: (raw: unknown) => Value | undefined): ReadColumn<Value> {
  return (value, column) => {
    const found = parse(value);
    if (found === undefined) throw damaged(`${column} has an invalid value`);
    return found;
  };
}

export function oneOf<Value extends string>(...allowed: readonly Value[]): ReadColumn<Value> {
  return parsed((raw) => allowed.find((value) => value === raw));
}

/** A column that may be NULL, which is `null` in the row. */
export function nullable<Value>(read: ReadColumn<Value>): ReadColumn<Value | null> {
  return (value, column) => (value === null ? null : read(value, column));
}

/** A column that may be NULL; the field is absent then. */
export function optional<Value>(read: ReadColumn<Value>): ReadColumn<Value | undefined> {
  return (value, column) => (value === null ? undefined : read(value, column));
}

/** Refuses anything but valid labels: dropping one would make tainted data look clean. */
export function labelSources(value: unknown, column: string): readonly LabelSource[] {
  const raw: unknown = parseJson(text(value, column));
  if (!Array.isArray(raw)) throw damaged("labels are not an array");
  return raw.map(parseSource);
}

function parseSource(raw: unknown): LabelSource {
  const { label, tool, execution, seq } = isJsonObject(raw) ? raw : {};
  const [address, id] = [parseToolAddress(tool), parseExecutionId(execution)];
  const isLabel = label === "private" || label === "untrusted";
  if (!isLabel || !address || !id || typeof seq !== "number") throw damaged("a label has an invalid source");
  return { label, tool: address, execution: id, seq };
}

export const UNCHANGED = "Nothing was changed. Restore a backup, or set another file in `store.url`";

/** For a store with invalid content. */
export function damaged(what: string): GloveboxError {
  return new GloveboxError("STORE_UNAVAILABLE", `The store is damaged: ${what}`, { hint: UNCHANGED });
}
