/** Checks what a server lists. A definition over a bound is left out with the reason, never changed. */

import type { RemoteTool } from "../connectors/index.ts";
import { defined, depthOf, isJsonObject } from "../domain/index.ts";
import type { Effect, Json, JsonObject, JsonSchema, Tool } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { effectOf, guessEffect } from "./effect-of.ts";
import { MAX_PATTERN_CHARS, findUnchecked } from "./find-unchecked.ts";
import type { PatternBudget } from "./find-unchecked.ts";
import { toDescription, toSummary } from "./prose.ts";
import type { CleanText } from "./prose.ts";

/** Per server; the first by name are kept. */
const MAX_TOOLS = 2000;
/** Per schema, as JSON. */
export const MAX_SCHEMA_BYTES = 256 * 1024;
/** Per server, for all schemas together. */
const MAX_LISTING_BYTES = 32 * 1024 * 1024;
/** Deeper schemas could overflow the stack of code that walks them. */
export const MAX_SCHEMA_DEPTH = 100;
const MAX_NAME_LENGTH = 16 * 1024;
const SHOWN_NAME_LENGTH = 40;

const HINTS = ["readOnly", "destructive", "idempotent", "openWorld"] as const;

export interface ListedTool extends Omit<Tool, "address" | "origin" | "learned" | "labels"> {
  readonly remoteName: string;
  /** True only if the server declares it. */
  readonly openWorld: boolean;
  /** True if the connector made the tool; a server cannot declare this. */
  readonly synthetic: boolean;
  /** What the digest covers: the server's definition, neither cleaned nor shortened. Never shown unchanged. */
  readonly definition: JsonObject;
}

export interface ToolListing {
  /** Sorted by remote name, each name once, so that the server's order does not matter. */
  readonly tools: readonly ListedTool[];
  /** Definitions that were malformed, repeated, too large or too many. */
  readonly leftOut: readonly LeftOutTool[];
}

export interface LeftOutTool {
  /** The start of its name, with only characters that are safe in any text. */
  readonly tool: string;
  readonly why: string;
}

type Schemas = Exclude<ReturnType<typeof parseSchemas>, string>;

/**
 * Accepts anything that a connector returned and never throws. Of two tools with one name the first is kept. In slices,
 * because a server may list thousands of tools.
 */
export function* parseListing(raw: unknown, clean: CleanText): SlicedWork<ToolListing> {
  const definitions: readonly unknown[] = Array.isArray(raw) ? raw : [];
  const tools: ListedTool[] = [];
  const leftOut: LeftOutTool[] = [];
  const leave = (name: unknown, why: string): unknown => leftOut.push(Object.freeze({ tool: toShownName(name), why }));
  const patterns = { left: MAX_PATTERN_CHARS };
  let bytes = 0;
  for (const [name, definition] of sortByName(definitions, leave)) {
    yield;
    const schemas = tools.length < MAX_TOOLS ? parseSchemas(definition) : `the server has more than ${MAX_TOOLS} tools`;
    if (typeof schemas === "string") leave(name, schemas);
    else if (bytes + schemas.bytes > MAX_LISTING_BYTES)
      leave(name, `all schemas of the server have more than ${MAX_LISTING_BYTES} bytes`);
    else {
      bytes += schemas.bytes;
      tools.push(toListedTool(name, definition, { schemas, clean, patterns }));
    }
  }
  return Object.freeze({ tools: Object.freeze(tools), leftOut: Object.freeze(leftOut) });
}

function sortByName(
  definitions: readonly unknown[],
  leave: (name: unknown, why: string) => unknown,
): readonly (readonly [string, JsonObject])[] {
  const byName = new Map<string, JsonObject>();
  for (const definition of definitions) {
    const { name, unusable } = isJsonObject(definition) ? definition : {};
    if (!isJsonObject(definition) || typeof name !== "string") leave(name, "it is not an object with a name");
    else if (typeof unusable === "string") leave(name, unusable);
    else if (name.length > MAX_NAME_LENGTH) leave(name, `its name has more than ${MAX_NAME_LENGTH} characters`);
    else if (byName.has(name)) leave(name, "another tool has the same name");
    else byName.set(name, definition);
  }
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** The start of a name, with only characters that are safe in any text. */
export function toShownName(name: unknown): string {
  if (typeof name !== "string" || name === "") return "(nameless)";
  const shown = name.slice(0, SHOWN_NAME_LENGTH).replaceAll(/[^\w./-]/g, "?");
  return name.length > SHOWN_NAME_LENGTH ? `${shown}…` : shown;
}

function toListedTool(
  remoteName: string,
  definition: JsonObject,
  {
    schemas,
    clean,
    patterns,
  }: { readonly schemas: Schemas; readonly clean: CleanText; readonly patterns: PatternBudget },
): ListedTool {
  const { input, output, request } = schemas;
  const title = textOf(definition["title"]);
  const description = textOf(definition["description"]);
  const annotations = parseAnnotations(definition["annotations"]);
  // The original text, not the cleaned one, so that a change in an omitted part still changes the digest.
  const listed = { name: remoteName, title, description, input, output, annotations: { ...annotations } };
  const unchecked = schemas.hasPatterns ? findUnchecked(input, toShownName, patterns) : [];
  const own: JsonObject = request ? { ...listed, request } : listed;
  return Object.freeze({
    remoteName,
    summary: toSummary([description, title, remoteName], clean),
    description: toDescription(description, clean),
    input,
    output,
    ...defined({ unchecked: unchecked.length > 0 ? Object.freeze(unchecked) : undefined }),
    ...settleEffect(effectOf(annotations), remoteName),
    ...defined({ idempotent: annotations.idempotent === true ? true : undefined }),
    openWorld: annotations.openWorld === true,
    synthetic: definition["synthetic"] === true,
    digest: digestOf(own),
    definition: Object.freeze(own),
  });
}

function settleEffect(declared: Effect, remoteName: string): Pick<ListedTool, "effect" | "effectSource"> {
  const guessed = declared === "unknown" ? guessEffect(remoteName) : "unknown";
  return guessed === "unknown" ? { effect: declared } : { effect: guessed, effectSource: "guess" };
}

const textOf = (raw: unknown): string => (typeof raw === "string" ? raw : "");

function parseAnnotations(raw: unknown): RemoteTool["annotations"] {
  if (!isJsonObject(raw)) return {};
  return Object.fromEntries(HINTS.filter((hint) => typeof raw[hint] === "boolean").map((hint) => [hint, raw[hint]]));
}

/** Returns the reason if a schema is over a bound. `request` states where arguments go, if the schemas do not. */
function parseSchemas(definition: JsonObject) {
  const input = copyJson(definition["input"] ?? null);
  const output = copyJson(definition["output"] ?? null);
  const request = copyJson(definition["request"] ?? null);
  if (typeof input === "string") return input;
  if (typeof output === "string") return output;
  if (typeof request === "string") return request;
  return {
    input: toInputSchema(input.value),
    hasPatterns: /"(?:pattern|format)/.test(input.text), // most schemas have neither
    output: isJsonObject(output.value) ? output.value : null,
    request: isJsonObject(request.value) ? request.value : null,
    bytes: input.bytes + output.bytes + request.bytes,
  };
}

/** Arguments are always one object, so a schema of another type is replaced. */
function toInputSchema(value: Json): JsonSchema {
  const isUsable = isJsonObject(value) && (value["type"] === undefined || value["type"] === "object");
  return Object.freeze(isUsable ? { ...value, type: "object" } : { type: "object" });
}

/** Returns a deeply frozen copy without getters or foreign prototypes. Checks the depth first, because the rest recurses. */
function copyJson(raw: Json): { readonly value: Json; readonly bytes: number; readonly text: string } | string {
  if (depthOf(raw, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH) return `a schema nests deeper than ${MAX_SCHEMA_DEPTH} levels`;
  const text = JSON.stringify(raw);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_SCHEMA_BYTES) return `a schema has more than ${MAX_SCHEMA_BYTES} bytes`;
  return { value: parseFrozen(text), bytes, text };
}

function parseFrozen(text: string): Json {
  const value: Json = JSON.parse(text, (_key, part: unknown) => Object.freeze(part));
  return value;
}
