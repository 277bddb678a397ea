/** From an operation to the tool that a model reads: one object of arguments, one JSON result. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../../domain/index.ts";

import type { RemoteAnnotations, RemoteTool } from "../../connector.ts";
import { createConverter } from "./convert-schema.ts";
import type { SchemaConverter } from "./convert-schema.ts";
import { BODY_ARGUMENT } from "../operation.ts";
import type { Body, Operation, Parameter } from "../operation.ts";
import type { References } from "./references.ts";
import { toPinnedRequest } from "./pin-request.ts";
import type { RequestOrigin } from "./pin-request.ts";

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
export interface ToolContext extends RequestOrigin {
  readonly references: References;
  /** For each of the two schemas; see `toSchemaBudget`. */
  readonly maxBytes: number;
}

export function createTool(operation: Operation, context: ToolContext): CreatedTool {
  const { references, maxBytes } = context;
  const inputs = createConverter({ references, direction: "input", maxBytes });
  const outputs = createConverter({ references, direction: "output", maxBytes });
  const input = toInput(operation, inputs);
  const output = toOutput(operation.responses, outputs);
  const isIncomplete = inputs.unresolved() + outputs.unresolved() > 0;
  const { name, description, method, path } = operation;
  const texts = [description || `${method} ${path}`, ...(isIncomplete ? [OTHER_DOCUMENT] : [])];
  // Title and request are pinned too, so a document cannot turn an accepted tool into another request unnoticed.
  const request = toPinnedRequest(operation, context);
  const said = { name, title: `${method} ${path}`, description: texts.join("\n\n").slice(0, MAX_TEXT_CHARACTERS) };
  return { tool: { ...said, input, output, annotations: toAnnotations(method), request }, isIncomplete };
}

function toInput({ parameters, body }: Operation, converter: SchemaConverter): JsonSchema {
  const properties = parameters.map((parameter): [string, Json] => [
    parameter.argument,
    describe(converter.convert(parameter.schema), parameter),
  ]);
  if (body) properties.push([BODY_ARGUMENT, toBodySchema(body, converter)]);
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument);
  if (body?.isRequired === true) required.push(BODY_ARGUMENT);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...converter.finish(),
  };
}

function describe(schema: Json, { description }: Pick<Parameter, "description">): Json {
  if (!isJsonObject(schema) || description === "") return schema;
  return { ...schema, description: description.slice(0, MAX_DESCRIPTION_CHARACTERS) };
}

const MAX_DESCRIPTION_CHARACTERS = 400;

function toBodySchema(body: Body, converter: SchemaConverter): Json {
  if (body.kind === "text") return describe({ type: "string" }, body);
  if (body.kind !== "binary") return describe(converter.convert(body.schema), body);
  const text = [body.description, `Bytes of ${body.mediaType} as base64 text.`].filter((one) => one !== "").join(" ");
  return { type: "string", contentEncoding: "base64", description: text };
}

function toOutput(responses: readonly Json[] | null, converter: SchemaConverter): JsonSchema | null {
  if (!responses) return null;
  const schemas = responses.map((response) => converter.convert(response));
  const [only] = schemas;
  const schema: Json | undefined = schemas.length > 1 ? { anyOf: schemas } : only;
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return null;
  const whole: JsonObject = { ...schema, ...converter.finish() };
  return whole;
}

/** By the semantics of the HTTP method (RFC 9110 §9.2). */
function toAnnotations(method: string): RemoteAnnotations {
  const isRead = method === "GET" || method === "HEAD" || method === "OPTIONS";
  if (isRead) return { readOnly: true, destructive: false, idempotent: true, openWorld: true };
  const isDelete = method === "DELETE";
  return { readOnly: false, destructive: isDelete, idempotent: isDelete || method === "PUT", openWorld: true };
}
