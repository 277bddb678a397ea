/** Describes the difference of two definitions of a tool, field by field, for the person who decides. Pure. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { CleanText } from "../prose.ts";

const MAX_LINES = 100;
const MAX_PATH_LENGTH = 200;
const MAX_FIELDS = 5000;

/** Longer texts are not compared line by line, because that takes quadratic time and memory. */
const COMPARED_LINES = 200;
const SHOWN_LENGTH = 200;
/** How much equal text is shown around a difference inside one line. */
const CONTEXT_LENGTH = 40;

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

const parseText = (json = '""'): string => String(JSON.parse(json));

/** Returns every scalar and empty container by its path, as JSON. Not recursive, because schemas can nest deeply. */
export function toFields(definition: JsonObject): ReadonlyMap<string, string> {
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

/** Returns the lines that differ, in order; long lines are shortened to the part that differs. */
export function diffLines(before: string, after: string): readonly string[] {
  const [old, fresh] = [toLines(before), toLines(after)];
  if (old.length === 1 && fresh.length === 1) return diffOneLine(old[0] ?? "", fresh[0] ?? "");
  const kept = findCommon(old, fresh);
  const removed = old.filter((_, at) => !kept.old.has(at)).map((line) => `- ${cut(line)}`);
  const added = fresh.filter((_, at) => !kept.fresh.has(at)).map((line) => `+ ${cut(line)}`);
  return [...removed, ...added];
}

function toLines(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}

function diffOneLine(before: string, after: string): readonly string[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [`- ${cutAround(before, start, end)}`, `+ ${cutAround(after, start, end)}`];
}

function cutAround(text: string, start: number, end: number): string {
  const from = Math.max(0, start - CONTEXT_LENGTH);
  const to = Math.min(text.length, text.length - end + CONTEXT_LENGTH);
  return `${from > 0 ? "…" : ""}${cut(text.slice(from, to).toWellFormed())}${to < text.length ? "…" : ""}`;
}

function cut(line: string): string {
  if (line.length <= SHOWN_LENGTH) return line;
  return `${line.slice(0, SHOWN_LENGTH).toWellFormed()}… (${line.length - SHOWN_LENGTH} more characters)`;
}

/** Finds the longest common subsequence, as indexes of its lines on both sides. */
function findCommon(old: readonly string[], fresh: readonly string[]) {
  if (old.length > COMPARED_LINES || fresh.length > COMPARED_LINES) return findShared(old, fresh);
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const row = lengths[i] ?? new Uint16Array();
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      row[j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const common = { old: new Set<number>(), fresh: new Set<number>() };
  for (let i = 0, j = 0; i < old.length && j < fresh.length;) {
    if (old[i] === fresh[j]) {
      common.old.add(i++);
      common.fresh.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return common;
}

/** For long texts: finds the lines that occur on both sides. */
function findShared(old: readonly string[], fresh: readonly string[]) {
  const pick = (lines: readonly string[], others: ReadonlySet<string>): Set<number> =>
    new Set(lines.flatMap((line, at) => (others.has(line) ? [at] : [])));
  return { old: pick(old, new Set(fresh)), fresh: pick(fresh, new Set(old)) };
}
