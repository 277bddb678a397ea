/**
 * The border between what a server lists and what the catalog believes. Everything is bounded, copied and frozen
 * here; a definition over a bound is left out and counted, never cut into something the server did not say.
 */

import { createHash } from "node:crypto";

import type { RemoteTool } from "../connectors/index.ts";
import { canonicalJson, depthOf, isJsonObject, parseDigest } from "../domain/index.ts";
import type { Digest, Effect, Json, JsonObject, JsonSchema, Tool } from "../domain/index.ts";
import { effectOf, guessEffect } from "./effect-of.ts";
import { toDescription, toSummary } from "./prose.ts";
import type { Clean } from "./prose.ts";

/** Per server; the first ones by name are kept. */
const MAX_TOOLS = 2000;
/** Per schema, as JSON text. */
export const MAX_SCHEMA_BYTES = 256 * 1024;
/** Per server, all schemas together: without it every tool could be just below its own limit. */
const MAX_LISTING_BYTES = 32 * 1024 * 1024;
/** Deeper schemas would cost stack in everything that walks them. */
export const MAX_SCHEMA_DEPTH = 100;
/** Names are looked up, compared and shown. */
const MAX_NAME_LENGTH = 16 * 1024;

const HINTS = ["readOnly", "destructive", "idempotent", "openWorld"] as const;

/** A definition that passed the bounds, before it has an address. */
export interface ListedTool {
  readonly remoteName: string;
  readonly summary: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  readonly effect: Effect;
  /** As the server claims. */
  readonly idempotent?: boolean;
  readonly effectSource?: NonNullable<Tool["effectSource"]>;
  /** Whether the server says in so many words that the tool meets an open world. */
  readonly openWorld: boolean;
  /** Whether the connector made it; a server cannot say so. */
  readonly synthetic: boolean;
  readonly digest: Digest;
  /** What the digest is over: the server's own words, neither cleaned nor cut. Never shown as it is. */
  readonly definition: JsonObject;
}

/** What one server contributes. */
export interface Listing {
  /** Sorted by remote name, each name once, so that a server's order changes nothing. */
  readonly tools: readonly ListedTool[];
  /** Definitions that were malformed, repeated, too large or too many. */
  readonly leftOut: number;
}

interface Schemas {
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  /** Of upstreams whose schemas do not say where the arguments go. */
  readonly request: JsonObject | null;
  readonly bytes: number;
}

/** Takes what a connector returned, however wrong, and never throws. Of two tools with one name the first counts. */
export function parseListing(raw: unknown, clean: Clean): Listing {
  const definitions: readonly unknown[] = Array.isArray(raw) ? raw : [];
  const tools: ListedTool[] = [];
  let bytes = 0;
  for (const [name, definition] of sortByName(definitions)) {
    if (tools.length >= MAX_TOOLS) break;
    const schemas = parseSchemas(definition);
    if (!schemas || bytes + schemas.bytes > MAX_LISTING_BYTES) continue;
    bytes += schemas.bytes;
    tools.push(toListedTool(name, definition, { schemas, clean }));
  }
  return Object.freeze({ tools: Object.freeze(tools), leftOut: definitions.length - tools.length });
}

function sortByName(definitions: readonly unknown[]): readonly (readonly [string, JsonObject])[] {
  const byName = new Map<string, JsonObject>();
  for (const definition of definitions) {
    if (!isJsonObject(definition)) continue;
    const name = definition["name"];
    if (typeof name !== "string" || name.length > MAX_NAME_LENGTH || byName.has(name)) continue;
    byName.set(name, definition);
  }
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function toListedTool(
  remoteName: string,
  definition: JsonObject,
  { schemas, clean }: { readonly schemas: Schemas; readonly clean: Clean },
): ListedTool {
  const { input, output, request } = schemas;
  const title = textOf(definition["title"]);
  const description = textOf(definition["description"]);
  const annotations = parseAnnotations(definition["annotations"]);
  // The server's own words, not the cleaned ones: a change behind a cut is a change.
  const said = { name: remoteName, title, description, input, output, annotations: { ...annotations } };
  const own: JsonObject = request ? { ...said, request } : said;
  return Object.freeze({
    remoteName,
    summary: toSummary([description, title, remoteName], clean),
    description: toDescription(description, clean),
    input,
    output,
    ...settleEffect(effectOf(annotations), remoteName),
    ...(annotations.idempotent === true && { idempotent: true }),
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

/** `undefined` when one of them is over a bound. */
function parseSchemas(definition: JsonObject): Schemas | undefined {
  const input = copyJson(definition["input"] ?? null);
  const output = copyJson(definition["output"] ?? null);
  const request = copyJson(definition["request"] ?? null);
  if (!input || !output || !request) return undefined;
  return {
    input: toInputSchema(input.value),
    output: isJsonObject(output.value) ? output.value : null,
    request: isJsonObject(request.value) ? request.value : null,
    bytes: input.bytes + output.bytes + request.bytes,
  };
}

/** Arguments are always one object; a schema that says otherwise says nothing useful. */
function toInputSchema(value: Json): JsonSchema {
  const isUsable = isJsonObject(value) && (value["type"] === undefined || value["type"] === "object");
  return Object.freeze(isUsable ? { ...value, type: "object" } : { type: "object" });
}

/** A deeply frozen copy without getters or prototypes of the sender's choice. Depth first: the rest recurses. */
function copyJson(raw: Json): { readonly value: Json; readonly bytes: number } | undefined {
  if (depthOf(raw, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH) return undefined;
  const text = JSON.stringify(raw);
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_SCHEMA_BYTES ? undefined : { value: parseFrozen(text), bytes };
}

function parseFrozen(text: string): Json {
  return JSON.parse(text, (_key, value: unknown) => Object.freeze(value)) as Json;
}

/** The digest of a value's canonical text: the order of keys makes no difference. */
export function digestOf(value: Json): Digest {
  const digest = parseDigest(`sha256:${createHash("sha256").update(canonicalJson(value)).digest("hex")}`);
  if (!digest) throw new TypeError("A SHA-256 digest has 64 hexadecimal digits");
  return digest;
}
