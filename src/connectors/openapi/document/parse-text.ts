/**
 * From the text of a document to one plain JSON object. The text may be hostile: aliases that multiply, nesting that
 * exhausts the stack, tags that name types of other languages.
 */

import { parseDocument } from "yaml";

import { GloveboxError, isJsonObject, parseJson } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

/** Deeper documents would exhaust the stack of recursive walks. */
export const MAX_DOCUMENT_DEPTH = 200;
/** Values after aliases are expanded; a document of 32 MB without aliases has fewer. */
export const MAX_DOCUMENT_VALUES = 4_000_000;
/** Limits how often an alias is used, times the aliases that it contains; stops "billion laughs". */
const MAX_ALIASES = 1000;
/** The parser needs about a hundred bytes per value, so a YAML document may be shorter than a JSON one. */
export const MAX_YAML_CHARACTERS = 16 * 1024 * 1024;

/** JSON if it begins like JSON, else YAML 1.2 with merge keys. Throws `UPSTREAM_RESULT_INVALID`. */
export function parseText(text: string): JsonObject {
  const value = /^\s*\{/.test(text) ? (parseJson(text) ?? parseYaml(text)) : parseYaml(text);
  checkBounds(value);
  if (!isJsonObject(value)) throw invalidDocument("it is not an object");
  return value;
}

function parseYaml(text: string): Json {
  if (text.length > MAX_YAML_CHARACTERS) {
    throw invalidDocument(`it is YAML of more than ${MAX_YAML_CHARACTERS} characters; convert it to JSON`);
  }
  const document = parseDocument(text, { ...YAML_OPTIONS });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw invalidDocument(describeProblem(problem.code, problem.linePos?.[0].line));
  try {
    const value: Json = document.toJS({ maxAliasCount: MAX_ALIASES });
    return value;
  } catch (cause) {
    throw invalidDocument("it has too many aliases, or an undefined one", cause);
  }
}

/** Duplicate keys are not detected, which would take quadratic time. The last one counts. */
const YAML_OPTIONS = { schema: "core", merge: true, uniqueKeys: false, logLevel: "silent" } as const;

/** The parser's message quotes the document, which may contain anything, so it is not shown. */
function describeProblem(code: string, line: number | undefined): string {
  const place = line === undefined ? "" : ` in line ${line}`;
  if (code === "TAG_RESOLVE_FAILED") return `it uses a tag outside of YAML's core schema${place}`;
  return `it is neither JSON nor YAML (${code}${place})`;
}

/** Walks without recursion; counts an alias each time it is used. */
function checkBounds(root: Json): void {
  let count = 0;
  const open: { readonly value: Json; readonly depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    count += 1;
    if (count > MAX_DOCUMENT_VALUES) throw invalidDocument(`it has more than ${MAX_DOCUMENT_VALUES} values`);
    const { value, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    if (depth >= MAX_DOCUMENT_DEPTH) throw invalidDocument(`it nests deeper than ${MAX_DOCUMENT_DEPTH} levels`);
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 });
  }
}

/** The error for a refused document. */
export function invalidDocument(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `The OpenAPI document cannot be used: ${why}`, {
    hint: "Check that document names an OpenAPI 2.0, 3.0 or 3.1 document in JSON or YAML",
    cause,
  });
}
