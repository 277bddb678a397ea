/** JSON values: the only kind of value that crosses the wall. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** A JSON Schema document, 2020-12 or draft-07. Its content is not trusted. */
export type JsonSchema = JsonObject;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value of a JSON text, or undefined if the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** A scalar has depth 0. Not recursive, and stops at `limit + 1`, so hostile nesting cannot overflow the stack. */
export function depthOf(value: Json, limit: number): number {
  let depth = 0;
  for (let level = listContainers([[value]]); level.length > 0 && depth <= limit; depth += 1) {
    level = listContainers(level);
  }
  return depth;
}

type Container = readonly Json[] | JsonObject;

/** The arrays and objects directly inside of these. Values may be wide, so nothing is allocated for a scalar. */
function listContainers(outer: readonly Container[]): readonly Container[] {
  const inner: Container[] = [];
  for (const container of outer) {
    const children: readonly Json[] = isJsonObject(container) ? Object.values(container) : container;
    for (const child of children) if (typeof child === "object" && child !== null) inner.push(child);
  }
  return inner;
}

/** Returns canonical JSON: keys are sorted at every level, so equal values have equal text and equal digests. */
export function canonicalJson(value: Json): string {
  return isSorted(value) ? JSON.stringify(value) : sortedJson(value);
}

/** Keys are in the order in which `JSON.stringify` writes them, which is far quicker than sorting them. */
function isSorted(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  if (!isJsonObject(value)) return value.every(isSorted);
  let last = "";
  for (const key of Object.keys(value)) {
    if (key < last || !isSorted(value[key])) return false;
    last = key;
  }
  return true;
}

function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => sortedJson(item)).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${sortedJson(value[key] ?? null)}`);
  return `{${entries.join(",")}}`;
}

/** Applies `change` to every string, keys too. Returns the same value if nothing changes. For values of bounded depth. */
export function mapTexts(value: JsonObject, change: (text: string) => string): JsonObject;
export function mapTexts(value: Json, change: (text: string) => string): Json;
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return mapItems(value, change);
  return isJsonObject(value) ? mapFields(value, change) : value;
}

function mapItems(value: readonly Json[], change: (text: string) => string): readonly Json[] {
  const items = value.map((item) => mapTexts(item, change));
  return items.every((item, at) => item === value[at]) ? value : items;
}

function mapFields(value: JsonObject, change: (text: string) => string): JsonObject {
  let isSame = true;
  const entries = Object.keys(value).map((key) => {
    const item = value[key] ?? null;
    const [name, mapped] = [change(key), mapTexts(item, change)];
    isSame &&= name === key && mapped === item;
    return [name, mapped] as const;
  });
  return isSame ? value : Object.fromEntries(entries);
}
