/** Describes the difference of two definitions of a tool, field by field, for the person who decides. Pure. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { diffLines } from "./diff-lines.ts";
import type { CleanText } from "../prose.ts";

/** For larger changes, read the server's source. */
const MAX_LINES = 100;
const MAX_PATH_LENGTH = 200;
/** Fields of one definition that are compared. */
const MAX_FIELDS = 5000;

/**
 * Returns lines such as `description:` followed by `-` and `+` lines, or `annotations.readOnly: true → (none)`.
 * `before` is `null` for a tool that was never accepted. All text comes from the server and is cleaned here.
 */
export function describeDifference(before: JsonObject | null, after: JsonObject, clean: CleanText): readonly string[] {
  const [old, fresh] = [toFields(before ?? {}), toFields(after)];
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].filter((path) => old.get(path) !== fresh.get(path));
  const lines = paths.flatMap((path) => describeField(path, old.get(path), fresh.get(path)));
  const shown = lines.slice(0, MAX_LINES).map((line) => clean(line).replaceAll(/[\n\t]+/g, " "));
  if (lines.length > MAX_LINES) shown.push(`(${lines.length - MAX_LINES} more lines)`);
  return shown.length > 0 ? shown : ["(a change in a part of the definition that is too long to store)"];
}

function describeField(path: string, before: string | undefined, after: string | undefined): readonly string[] {
  const name = path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
  const isText = [before, after].every((value) => value === undefined || value.startsWith('"'));
  const isShort = [before, after].every((value) => (value ?? "").length <= 60);
  if (!isText || isShort)
    return [`${name}: ${before?.slice(0, 200) ?? "(none)"} → ${after?.slice(0, 200) ?? "(none)"}`];
  return [`${name}:`, ...diffLines(parseText(before), parseText(after)).map((line) => `  ${line}`)];
}

function parseText(json: string | undefined): string {
  const value: unknown = json === undefined ? "" : JSON.parse(json);
  return typeof value === "string" ? value : "";
}

/** Returns every scalar and empty container by its path, as JSON. Not recursive, because schemas can nest deeply. */
function toFields(definition: JsonObject): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const open: (readonly [path: string, value: Json])[] = [["", definition]];
  for (let next = open.pop(); next && fields.size < MAX_FIELDS; next = open.pop()) {
    const [path, value] = next;
    const children = toChildren(value, path);
    if (children.length > 0) open.push(...children.toReversed());
    else if (!isNothing(path, value)) fields.set(path, JSON.stringify(value));
  }
  return fields;
}

/** An empty schema has a meaning; empty annotations, strings and outputs do not. */
function isNothing(path: string, value: Json): boolean {
  return value === null || value === "" || path === "" || path === "annotations";
}

function toChildren(value: Json, path: string): readonly (readonly [string, Json])[] {
  if (Array.isArray(value)) return value.map((item: Json, at) => [`${path}[${at}]`, item] as const);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).map(([key, child]) => [path === "" ? key : `${path}.${key}`, child] as const);
}
