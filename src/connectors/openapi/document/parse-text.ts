/**
 * From the text of a document to one plain JSON object. The text may be hostile: aliases that multiply, nesting that
 * costs the stack, tags that name types of other languages.
 */

import { parseDocument } from "yaml";

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

/** Deeper documents would cost stack in everything that walks them. */
export const MAX_DOCUMENT_DEPTH = 200;
/** Values after aliases are written out; a document of 32 MB without aliases stays below it. */
export const MAX_DOCUMENT_VALUES = 4_000_000;
/** How often one alias may be used, times what it holds of others; ends "billion laughs". */
const MAX_ALIASES = 1000;
/** Every value costs about a hundred bytes while it is read, so a document of YAML may be less long than one of JSON. */
export const MAX_YAML_CHARACTERS = 16 * 1024 * 1024;

/** JSON when it begins like JSON, else YAML 1.2 with merge keys. Throws `UPSTREAM_RESULT_INVALID`. */
export function parseText(text: string): JsonObject {
  const value = /^\s*\{/.test(text) ? (parseJson(text) ?? parseYaml(text)) : parseYaml(text);
  checkBounds(value);
  if (!isJsonObject(value)) throw invalidDocument("it is not an object");
  return value;
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function parseYaml(text: string): Json {
  if (text.length > MAX_YAML_CHARACTERS) {
    throw invalidDocument(`it is YAML of more than ${MAX_YAML_CHARACTERS} characters; convert it to JSON`);
  }
  const document = parseDocument(text, { ...YAML_OPTIONS });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw invalidDocument(describeProblem(problem.code, problem.linePos?.[0].line));
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as Json;
  } catch (cause) {
    throw invalidDocument("its aliases multiply, or one of them leads nowhere", cause);
  }
}

/** Keys are not compared with one another: that takes the square of their number. The last of two equal ones counts. */
const YAML_OPTIONS = { schema: "core", merge: true, uniqueKeys: false, logLevel: "silent" } as const;

/** The message of the parser repeats the text around the place, which may hold anything, so it is not shown. */
function describeProblem(code: string, line: number | undefined): string {
  const place = line === undefined ? "" : ` in line ${line}`;
  if (code === "TAG_RESOLVE_FAILED") return `it uses a tag that is not of YAML's core${place}`;
  return `it is neither JSON nor YAML (${code}${place})`;
}

/** Walks without recursion; an alias counts as often as it is used. */
function checkBounds(root: Json): void {
  let count = 0;
  const open: { readonly value: Json; readonly depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    count += 1;
    if (count > MAX_DOCUMENT_VALUES) throw invalidDocument(`it holds more than ${MAX_DOCUMENT_VALUES} values`);
    const { value, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    if (depth >= MAX_DOCUMENT_DEPTH) throw invalidDocument(`it nests deeper than ${MAX_DOCUMENT_DEPTH} levels`);
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 });
  }
}

/** The one shape of a refused document. */
export function invalidDocument(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `The OpenAPI document cannot be used: ${why}`, {
    hint: "Check that document names an OpenAPI 2.0, 3.0 or 3.1 document in JSON or YAML",
    ...(cause !== undefined && { cause }),
  });
}
