/**
 * Collects all problems of a configuration into one error.
 * Values below `mcpServers`, `openapi`, `audit`, `store`, `traces` and `anomalies` are never shown, because they can be
 * tokens and passwords.
 */

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";

export type KeyPath = readonly (string | number)[];

interface Problem {
  readonly path: KeyPath;
  readonly anchor: "key" | "value";
  readonly message: string;
}

/** A position in the file, 1-based. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

/** Returns the position of a problem; `undefined` without a file. */
export type Locate = (problem: Pick<Problem, "path" | "anchor">) => FilePosition | undefined;

export interface Problems {
  /** Reports a value. Keeps the first problem of each path: later ones are usually consequences. */
  refuse(path: KeyPath, message: string): void;
  refuseKey(path: KeyPath, message: string): void;
  list(): readonly Problem[];
}

const MAX_LISTED = 20;
/** Bounds the time to locate problems, which grows with the size of the file. */
const MAX_PLACED = 1000;
const MAX_SHOWN_CHARACTERS = 60;
const SIMPLE_KEY = /^[\w$][\w$-]*$/;
const UNPRINTABLE = /[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const HINT = "Correct the configuration and start again. glovebox.schema.json describes every key";

export function createProblems(): Problems {
  const found = new Map<string, Problem>();
  const report = (problem: Problem): void => {
    const place = JSON.stringify(problem.path);
    if (!found.has(place)) found.set(place, problem);
  };
  return {
    refuse: (path, message) => report({ path, message, anchor: "value" }),
    refuseKey: (path, message) => report({ path, message, anchor: "key" }),
    list: () => [...found.values()],
  };
}

/** Returns one error with a line for each problem, in the order of the file. */
export function toConfigError(problems: readonly Problem[], file: string | undefined, locate?: Locate): GloveboxError {
  const placed = problems
    .slice(0, MAX_PLACED)
    .map((problem) => ({ problem, at: locate?.(problem) }))
    .toSorted((a, b) => compare(a.at, b.at));
  const lines = placed
    .slice(0, MAX_LISTED)
    .map(({ problem, at }) => `${toPlace(file, at)} ${toKeyText(problem.path)}: ${problem.message}`);
  const hidden = problems.length - lines.length;
  if (hidden > 0) lines.push(`… and ${hidden} more`);
  return new GloveboxError("CONFIG_INVALID", lines.join("\n"), { hint: HINT, ...placed[0]?.at });
}

function compare(a: FilePosition | undefined, b: FilePosition | undefined): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

/** Returns `file:line:column`, which editors and terminals recognize. */
export function toPlace(file: string | undefined, at: FilePosition | undefined): string {
  if (file === undefined) return "configuration";
  return at ? `${file}:${at.line}:${at.column}` : file;
}

/** Returns for example `mcpServers["my server"].args[0]`, escaped for terminals. */
export function toKeyText(path: KeyPath): string {
  if (path.length === 0) return "(top level)";
  const text = path.map((segment) => {
    if (typeof segment === "number") return `[${segment}]`;
    return SIMPLE_KEY.test(segment) ? `.${segment}` : `[${quote(segment)}]`;
  });
  return text.join("").replace(/^\./, "");
}

/** A text in quotes, cut to a line's length, with everything escaped that a terminal would obey or hide. */
export function quote(text: string): string {
  const shown = text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
  return JSON.stringify(shown).replace(UNPRINTABLE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Describes the value at `path`; only its kind if it could be a secret. */
export function describeFound(config: Json, path: KeyPath): string {
  const value = path.reduce<Json | undefined>(getChild, config);
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return mayHoldSecret(path) ? "a number" : String(value);
  return mayHoldSecret(path) ? "a string" : quote(value);
}

function getChild(value: Json | undefined, segment: string | number): Json | undefined {
  if (Array.isArray(value)) return value[Number(segment)];
  return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

function mayHoldSecret(path: KeyPath): boolean {
  const [section, part, key] = path;
  if (section === "mcpServers" || section === "openapi") return key !== "type" && key !== "startupTimeoutMs";
  if (section === "approvals") return part === "notify";
  return ["store", "audit", "traces", "anomalies"].includes(String(section));
}
