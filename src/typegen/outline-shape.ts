/** The outline of a value without its values, to decide what to read of it. Bounded: uses a part of a large value. */

import { isJsonObject } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import { toKey } from "./escape-text.ts";

const MAX_NODES = 5000;
const MAX_DEPTH = 8;
const MAX_ITEMS = 50;
const MAX_FIELDS = 100;
const MAX_KEY = 60;

/** All values at one path; arrays and objects there are merged. */
interface ValueOutline {
  readonly scalars: Set<string>;
  objects: number;
  readonly fields: Map<string, ValueOutline & { seen: number }>;
  hiddenFields: number;
  arrays: number;
  shortest: number;
  longest: number;
  item?: ValueOutline;
}

/** Returns for example `{ items: { id: number }[] (120); next: string | null }`, in at most `maxChars` characters. */
export function outlineShape(value: Json, maxChars: number): string {
  const place = createOutline();
  look(value, place, { depth: 0, budget: { nodes: MAX_NODES } });
  let text = "";
  for (let depth = MAX_DEPTH; depth >= 0; depth -= 1) {
    text = print(place, depth);
    if (text.length <= maxChars) return text;
  }
  return maxChars < 1 ? "" : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

function createOutline(): ValueOutline {
  return { scalars: new Set(), objects: 0, fields: new Map(), hiddenFields: 0, arrays: 0, shortest: 0, longest: 0 };
}

type OutlineScope = { readonly depth: number; readonly budget: { nodes: number } };

function look(value: Json, place: ValueOutline, { depth, budget }: OutlineScope): void {
  budget.nodes -= 1;
  if (Array.isArray(value)) return lookAtItems(value, place, { depth: depth + 1, budget });
  if (isJsonObject(value)) return lookAtFields(value, place, { depth: depth + 1, budget });
  place.scalars.add(value === null ? "null" : typeof value);
}

function lookAtItems(items: readonly Json[], place: ValueOutline, inside: OutlineScope): void {
  place.shortest = place.arrays === 0 ? items.length : Math.min(place.shortest, items.length);
  place.longest = Math.max(place.longest, items.length);
  place.arrays += 1;
  if (inside.depth > MAX_DEPTH) return;
  for (const item of items.slice(0, MAX_ITEMS)) {
    if (inside.budget.nodes < 1) return;
    place.item ??= createOutline();
    look(item, place.item, inside);
  }
}

function lookAtFields(value: { readonly [key: string]: Json }, place: ValueOutline, inside: OutlineScope): void {
  place.objects += 1;
  if (inside.depth > MAX_DEPTH) return;
  const keys = Object.keys(value);
  for (const [at, key] of keys.slice(0, MAX_FIELDS).entries()) {
    const known = place.fields.get(key);
    if (inside.budget.nodes < 1 || (!known && place.fields.size >= MAX_FIELDS)) {
      place.hiddenFields = Math.max(place.hiddenFields, keys.length - at);
      return;
    }
    const field = known ?? { ...createOutline(), seen: 0 };
    field.seen += 1;
    place.fields.set(key, field);
    look(value[key] ?? null, field, inside);
  }
  place.hiddenFields = Math.max(place.hiddenFields, keys.length - MAX_FIELDS);
}

function print(place: ValueOutline, depth: number): string {
  const parts = [...place.scalars].filter((kind) => kind !== "null").toSorted();
  if (place.objects > 0) parts.push(printFields(place, depth));
  if (place.arrays > 0) parts.push(printItems(place, depth));
  if (place.scalars.has("null")) parts.push("null");
  return parts.length === 0 ? "unknown" : parts.join(" | ");
}

function printFields({ fields, objects, hiddenFields }: ValueOutline, depth: number): string {
  if (fields.size === 0 && hiddenFields === 0) return "{}";
  if (depth < 1) return "{ … }";
  const lines = [...fields].map(([key, field]) => {
    const name = toKey(key.length > MAX_KEY ? `${key.slice(0, MAX_KEY - 1)}…` : key);
    return `${name}${field.seen < objects ? "?" : ""}: ${print(field, depth - 1)}`;
  });
  const more = hiddenFields > 0 ? [`… ${hiddenFields} more`] : [];
  return `{ ${[...lines, ...more].join("; ")} }`;
}

function printItems({ item, shortest, longest }: ValueOutline, depth: number): string {
  const count = shortest === longest ? `(${longest})` : `(${shortest} to ${longest})`;
  if (!item) return `unknown[] ${count}`;
  const text = depth < 1 ? "…" : print(item, depth - 1);
  return `${text.includes(" | ") && !/^\{[^]*\}$/.test(text) ? `(${text})` : text}[] ${count}`;
}
