/** Goes from a result of a tool along the steps of a read, and shows the way. */

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

const ITEM = "*";
const PARSED = "(JSON)";
const LINES = "(lines)";
const MAX_ITEMS = 1_000;
/** A longer string is not read again. */
const MAX_TEXT = 200_000;

/** Whether the steps leave the type that the tool declares: a string may have anything in it. */
export function isParsed(steps: readonly string[] = []): boolean {
  return steps.includes(PARSED);
}

/** The values that a step leads to: the items of an array, a field, or what a string has in it; none if it is not there. */
export function stepInto(holder: Json, step: string): readonly Json[] {
  if (step === ITEM) return Array.isArray(holder) ? holder.slice(0, MAX_ITEMS) : [];
  const next = step === PARSED || step === LINES ? readText(holder, step) : fieldOf(holder, step);
  return next === undefined ? [] : [next];
}

function fieldOf(holder: Json, name: string): Json | undefined {
  return isJsonObject(holder) ? holder[name] : undefined;
}

function readText(holder: Json, step: typeof PARSED | typeof LINES): Json | undefined {
  if (typeof holder !== "string" || holder.length > MAX_TEXT) return undefined;
  return step === PARSED ? parseJson(holder) : holder.split("\n", MAX_ITEMS);
}

/** `shop.find.items[]`, or `JSON.parse(files.read.content).users[]`. */
export function showPlace(from: string, steps: readonly string[]): string {
  return steps.reduce((place, step) => {
    if (step === ITEM) return `${place}[]`;
    if (step === PARSED) return `JSON.parse(${place})`;
    return step === LINES ? `${place}.split("\\n")` : `${place}.${step}`;
  }, from);
}
