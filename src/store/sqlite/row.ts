/** Reads columns of a row with their types. A value of another type means a damaged store, never a wrong guess. */

import type { SQLOutputValue } from "node:sqlite";

import { damaged } from "./to-store-error.ts";

/** What SQLite answers; nothing about it is known yet. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** A column that always has text. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw damaged(`${column} is not text`);
  return value;
}

/** A column that always has a whole number. */
export function integerOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw damaged(`${column} is not a whole number`);
  return value;
}

/** Likewise, but one that is too large comes as a number that is not safe: the caller shows that something is wrong. */
export function numberOf(row: Row, column: string): number {
  const value = row[column];
  return typeof value === "bigint" ? Number(value) : integerOf(row, column);
}

/** A column that always has bytes. */
export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw damaged(`${column} is not bytes`);
  return value;
}

/** Passes a text column through the parser of its kind. */
export function idOf<Kind>(row: Row, column: string, parse: (raw: unknown) => Kind | undefined): Kind {
  const parsed = parse(row[column]);
  if (parsed === undefined) throw damaged(`${column} has an impossible value`);
  return parsed;
}
