/** Reads one operation. Skips malformed parts, so that one careless entry does not affect others. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Operation } from "../operation.ts";
import { parseBody, parseSwaggerBody } from "./parse-body.ts";
import { isJsonType, isPlainJson } from "../media-type.ts";
import { nameArguments, parseParameter } from "./parse-parameter.ts";
import type { NamelessParameter } from "./parse-parameter.ts";
import { toList, toObject } from "./references.ts";
import type { References } from "./references.ts";

export interface OperationContext {
  readonly root: JsonObject;
  readonly isSwagger: boolean;
  readonly references: References;
  readonly method: string;
  readonly path: string;
  readonly name: string;
  /** The entry of `paths`, which may have parameters for all of its operations. */
  readonly item: JsonObject;
}

/** RFC 9110 §9.3.1 and §9.3.2 give a body no meaning here, and `fetch` sends none. */
const BODILESS = new Set(["get", "head"]);
/** Part of pinned definitions: another wording would withhold accepted tools. */
const NO_BODY =
  "The document gives this request a body, which a request of its method cannot have: it is sent without.";

export function parseOperation(raw: JsonObject, context: OperationContext): Operation {
  const { isSwagger, references, method, path, name, root } = context;
  const rawParameters = collectParameters(raw, context);
  const body = isSwagger
    ? parseSwaggerBody(rawParameters, raw["consumes"] ?? root["consumes"], references)
    : parseBody(references.resolve(raw["requestBody"]), references);
  const isBodiless = BODILESS.has(method);
  return {
    name,
    method: method.toUpperCase(),
    path,
    description: [toDescription(raw), body && isBodiless && NO_BODY].filter(Boolean).join("\n\n"),
    parameters: nameArguments(completePath(parseParameters(rawParameters, isSwagger), path)),
    body: isBodiless ? null : body,
    responses: parseResponses(raw, context),
    security: parseSecurity(raw["security"]) ?? parseSecurity(root["security"]),
  };
}

/** Drops path parameters that the template lacks. Placeholders without a description are strings. */
function completePath(parameters: readonly NamelessParameter[], path: string): readonly NamelessParameter[] {
  const names = new Set(Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name = ""]) => name));
  const known = parameters.filter(({ place, name }) => place !== "path" || names.has(name));
  const described = new Set(known.filter(({ place }) => place === "path").map(({ name }) => name));
  const missing = [...names.difference(described)].map((name) => ({ name, in: "path", schema: { type: "string" } }));
  return [...known, ...parseParameters(missing, false)];
}

function parseParameters(raw: readonly JsonObject[], isSwagger: boolean): readonly NamelessParameter[] {
  return raw.map((one) => parseParameter(one, isSwagger)).filter((one) => one !== undefined);
}

/** The summary, then the description; a deprecated operation starts with a note. */
function toDescription({ summary, description, deprecated }: JsonObject): string {
  const texts = [summary, description].filter((text) => typeof text === "string").map((text) => text.trim());
  const text = [...new Set(texts)].filter(Boolean).join("\n\n");
  return deprecated === true ? `Deprecated. ${text}`.trim() : text;
}

/** An operation's own parameter replaces one of its path with the same name and place. */
function collectParameters(raw: JsonObject, { item, references }: OperationContext): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const entry of [...toList(item["parameters"]), ...toList(raw["parameters"])]) {
    const parameter = references.resolve(entry);
    if (parameter) found.set(JSON.stringify([parameter["in"], parameter["name"]]), parameter);
  }
  return [...found.values()];
}

/** Considers every successful answer: 200 and 204 together mean that the value may be null. */
function parseResponses(raw: JsonObject, context: OperationContext): readonly Json[] | null {
  const schemas = Object.entries(toObject(raw["responses"]))
    .filter(([status]) => /^2(?:\d\d|xx)$/i.test(status))
    .map(([status, response]) => parseResponse(status, context.references.resolve(response), context));
  const known = schemas.filter((schema) => schema !== undefined);
  const isAnyJson = known.some((schema) => schema !== NO_CONTENT);
  return known.length === schemas.length && isAnyJson ? known : null;
}

const NO_CONTENT: JsonObject = { type: "null" };

/** `undefined` if nothing is known about the value. */
function parseResponse(
  status: string,
  response: JsonObject | undefined,
  { isSwagger, references }: OperationContext,
): Json | undefined {
  if (!response) return undefined;
  if (isSwagger) return parseSwaggerResponse(status, response);
  const types = Object.entries(toObject(response["content"]));
  if (types.length === 0) return NO_CONTENT;
  if (!types.every(([mediaType]) => isJsonType(mediaType))) return undefined;
  // Requests ask for plain JSON; without it the server chooses.
  const plain = types.filter(([mediaType]) => isPlainJson(mediaType)).slice(0, 1);
  const schemas = (plain.length > 0 ? plain : types).map(([, media]) => references.resolve(media)?.["schema"]);
  const known = schemas.filter((schema) => schema !== undefined);
  if (known.length < schemas.length) return undefined;
  return known.length > 1 ? { anyOf: known } : known[0];
}

function parseSwaggerResponse(status: string, { schema }: JsonObject): Json | undefined {
  if (schema !== undefined) return isJsonObject(schema) && schema["type"] === "file" ? undefined : schema;
  return status === "204" || status === "205" ? NO_CONTENT : undefined;
}

/** `undefined` if the document does not say; an empty array means that no credential is needed. */
function parseSecurity(raw: Json | undefined): Operation["security"] {
  if (!Array.isArray(raw)) return undefined;
  return raw.filter((one) => isJsonObject(one)).map((one) => Object.keys(one));
}
