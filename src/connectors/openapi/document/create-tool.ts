/** From an operation to the tool that a model reads: one object of arguments, one JSON result. */

import { defined, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../../domain/index.ts";

import type { RemoteAnnotations, RemoteTool } from "../../connector.ts";
import { BODY_ARGUMENT } from "../operation.ts";
import type { Body, Operation, SecurityScheme } from "../operation.ts";
import { createConverter } from "./convert-schema.ts";
import type { SchemaConverter } from "./convert-schema.ts";
import type { References } from "./references.ts";
import { MAX_DESCRIPTION_CHARACTERS } from "./schema-keywords.ts";

/** For all schemas of a document, of the 32 MiB that the catalog accepts: more would take seconds at each start. */
const MAX_TOTAL_BYTES = 12 * 1024 * 1024;
/** For one schema, of the 256 KiB that the catalog accepts. Models read no more than this. */
const MAX_SCHEMA_BYTES = 64 * 1024;
/** For a description. Models are shown far less. */
const MAX_TEXT_CHARACTERS = 64 * 1024;
/** Part of pinned definitions: another wording would withhold accepted tools. */
const OTHER_DOCUMENT =
  "Parts of its schemas are in other documents, which are not read; those parts take and hold any value.";

export interface CreatedTool {
  readonly tool: RemoteTool;
  /** True if a reference leads out of the document or nowhere. */
  readonly isIncomplete: boolean;
}

/** The budget for one schema of each of `count` operations. */
export function toSchemaBudget(count: number): number {
  return Math.min(MAX_SCHEMA_BYTES, Math.floor(MAX_TOTAL_BYTES / (2 * Math.max(count, 1))));
}

/** What all tools of a document are made with. */
export interface ToolContext {
  readonly references: References;
  /** For each of the two schemas; see `toSchemaBudget`. */
  readonly maxBytes: number;
  /** The URL of the API. */
  readonly base: URL;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

export function createTool(operation: Operation, context: ToolContext): CreatedTool {
  const { references, maxBytes } = context;
  const inputs = createConverter({ references, direction: "input", maxBytes });
  const outputs = createConverter({ references, direction: "output", maxBytes });
  const input = toInput(operation, inputs);
  const output = toOutput(operation.responses, outputs);
  const isIncomplete = inputs.unresolved() + outputs.unresolved() > 0;
  const { name, method, path } = operation;
  // Title and request are pinned too, so a document cannot turn an accepted tool into another request unnoticed.
  const title = `${method} ${path}`;
  const texts = [operation.description || title, ...(isIncomplete ? [OTHER_DOCUMENT] : [])];
  const description = texts.join("\n\n").slice(0, MAX_TEXT_CHARACTERS);
  const request = toPinnedRequest(operation, context);
  return {
    tool: { name, title, description, input, output, annotations: toAnnotations(method), request },
    isIncomplete,
  };
}

function toInput({ parameters, body }: Operation, converter: SchemaConverter): JsonSchema {
  const properties = parameters.map(({ argument, schema, description }): [string, Json] => [
    argument,
    describe(converter.convert(schema), description),
  ]);
  if (body) properties.push([BODY_ARGUMENT, toBodySchema(body, converter)]);
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument);
  if (body?.isRequired === true) required.push(BODY_ARGUMENT);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...defined({ required: required.length > 0 ? required : undefined }),
    additionalProperties: false,
    ...converter.finish(),
  };
}

function describe(schema: Json, description: string): Json {
  if (!isJsonObject(schema) || description === "") return schema;
  return { ...schema, description: description.slice(0, MAX_DESCRIPTION_CHARACTERS) };
}

function toBodySchema({ kind, description, mediaType, schema }: Body, converter: SchemaConverter): Json {
  if (kind === "text") return describe({ type: "string" }, description);
  if (kind !== "binary") return describe(converter.convert(schema), description);
  const text = [description, `Bytes of ${mediaType} as base64 text.`].filter(Boolean).join(" ");
  return { type: "string", contentEncoding: "base64", description: text };
}

function toOutput(responses: readonly Json[] | null, converter: SchemaConverter): JsonSchema | null {
  const schemas = responses?.map((response) => converter.convert(response)) ?? [];
  const schema: Json | undefined = schemas.length > 1 ? { anyOf: schemas } : schemas[0];
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return null;
  return { ...schema, ...converter.finish() };
}

/** By the semantics of the HTTP method (RFC 9110 §9.2). */
function toAnnotations(method: string): RemoteAnnotations {
  const isRead = method === "GET" || method === "HEAD" || method === "OPTIONS";
  if (isRead) return { readOnly: true, destructive: false, idempotent: true, openWorld: true };
  const isDelete = method === "DELETE";
  return { readOnly: false, destructive: isDelete, idempotent: isDelete || method === "PUT", openWorld: true };
}

/**
 * What a call sends and where to, which no schema shows. Otherwise a document could send the arguments of an accepted
 * tool to another address, or its credential to another place, unnoticed. Configured credentials are not included:
 * setting one does not change a tool.
 */
function toPinnedRequest({ parameters, body, security }: Operation, { base, schemes }: ToolContext): JsonObject {
  const places = parameters.map(({ argument, name, place, format, style, explode, allowReserved }): [string, Json] => [
    argument,
    { name, place, format, style, explode, allowReserved },
  ]);
  const toSchemes = (names: readonly string[]): JsonObject =>
    Object.fromEntries(names.toSorted().map((name): [string, Json] => [name, { ...schemes.get(name) }]));
  return {
    base: `${base.origin}${base.pathname}`,
    parameters: Object.fromEntries(places),
    body: body && toPinnedBody(body),
    // The first available alternative is sent, so their order matters; within one it does not.
    security: (security ?? [[...schemes.keys()]]).map(toSchemes),
  };
}

function toPinnedBody({ kind, mediaType, encodings, binaries }: Body): JsonObject {
  const styles = [...encodings].map(([name, encoding]): [string, Json] => [name, { ...encoding }]);
  return { kind, mediaType, encodings: Object.fromEntries(styles), binaries: [...binaries].toSorted() };
}
