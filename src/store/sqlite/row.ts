/** Reads typed columns of a row. A value of another type means that the store is damaged. */

import type { SQLOutputValue } from "node:sqlite";

import { damaged } from "./to-store-error.ts";

/** A row from SQLite, not checked yet. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** Returns a string column. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw damaged(`${column} is not a string`);
  return value;
}

/** Returns an integer column. */
export function integerOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw damaged(`${column} is not an integer`);
  return value;
}

/** Returns an integer column. One above the safe integers becomes an unsafe number, which the caller reports. */
export function numberOf(row: Row, column: string): number {
  const value = row[column];
  return typeof value === "bigint" ? Number(value) : integerOf(row, column);
}

/** Returns a column of bytes. */
export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw damaged(`${column} is not a byte array`);
  return value;
}

/** Parses a column with the parser of its type. */
export function idOf<Kind>(row: Row, column: string, parse: (raw: unknown) => Kind | undefined): Kind {
  const parsed = parse(row[column]);
  if (parsed === undefined) throw damaged(`${column} has an invalid value`);
  return parsed;
}
