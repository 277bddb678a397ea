/**
 * Arguments that a tool repeats as HTTP headers (MCP 2026-07-28, Streamable HTTP, `x-mcp-header`), so that a proxy in
 * front of the server can route a call without reading its body.
 */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../../domain/index.ts";

const MARK = "x-mcp-header";
/** RFC 9110, section 5.1. Keeps line breaks out of a header's name. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];

/** One argument and the header that repeats it. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly name: string;
}

/**
 * The marks of a schema, or `undefined` if one is invalid: below anything but `properties`, with a name that is not a
 * token or is used twice, or on a type that cannot be a header. Such a tool must not be offered.
 */
export function findParamHeaders(schema: JsonSchema): readonly ParamHeader[] | undefined {
  const found: ParamHeader[] = [];
  const isGood = visit(schema, [], found);
  const names = found.map(({ name }) => name.toLowerCase());
  return isGood && new Set(names).size === names.length ? found : undefined;
}

function visit(schema: JsonObject, path: readonly string[], found: ParamHeader[]): boolean {
  const mark = schema[MARK];
  if (mark !== undefined) {
    if (path.length === 0 || typeof mark !== "string" || !TOKEN.test(mark) || !TYPES.includes(schema["type"])) {
      return false;
    }
    found.push({ path, name: mark });
  }
  const { properties, ...rest } = schema;
  if (hasMarkInside(rest)) return false;
  if (!isJsonObject(properties)) return true;
  return Object.entries(properties).every(
    ([key, child]) => !isJsonObject(child) || visit(child, [...path, key], found),
  );
}

/** A mark anywhere but below `properties` is invalid. Values that only mention it, such as in an enum, do not count. */
function hasMarkInside(schema: JsonObject): boolean {
  const open: Json[] = Object.entries(schema)
    .filter(([key]) => !DATA_KEYWORDS.has(key))
    .map(([, value]) => value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (isJsonObject(next) && next[MARK] !== undefined) return true;
    open.push(...Object.values(next));
  }
  return false;
}

const DATA_KEYWORDS: ReadonlySet<string> = new Set([MARK, "enum", "const", "default", "examples"]);

/** An argument that is absent, null or not a plain value gets no header. */
export function toParamHeaders(found: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const entries = found.flatMap(({ path, name }) => {
    const text = toText(valueAt(args, path));
    return text === undefined ? [] : [[`Mcp-Param-${name}`, encode(text)] as const];
  });
  return Object.fromEntries(entries);
}

function valueAt(args: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = args;
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function toText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" || Number.isSafeInteger(value) ? JSON.stringify(value) : undefined;
}

/** What a header cannot carry is sent as base64 between marks; so is a value that looks like this form. */
function encode(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
