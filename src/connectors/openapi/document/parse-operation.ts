/** Reads one operation. Skips malformed parts, so that one careless entry does not affect others. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Operation, SecurityRequirement } from "../operation.ts";
import { parseBody, parseSwaggerBody } from "./parse-body.ts";
import { isJsonType, isPlainJson } from "../media-type.ts";
import { nameArguments, parseParameter } from "./parse-parameter.ts";
import type { NamelessParameter } from "./parse-parameter.ts";
import type { References } from "./references.ts";

export interface OperationContext {
  readonly root: JsonObject;
  readonly dialect: "swagger" | "openapi";
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

/** The summary, then the description; a deprecated operation starts with a note. */
export function parseOperation(raw: JsonObject, context: OperationContext): Operation {
  const { dialect, references, method, path, name, root } = context;
  const rawParameters = collectParameters(raw, context);
  const parameters = rawParameters.map((one) => parseParameter(one, dialect)).filter((one) => one !== undefined);
  const consumes = raw["consumes"] ?? root["consumes"];
  const body =
    dialect === "swagger"
      ? parseSwaggerBody(rawParameters, consumes, references)
      : parseBody(references.resolve(raw["requestBody"]), references);
  const isBodiless = BODILESS.has(method);
  return {
    name,
    method: method.toUpperCase(),
    path,
    description: [toDescription(raw), ...(body && isBodiless ? [NO_BODY] : [])]
      .filter((one) => one !== "")
      .join("\n\n"),
    parameters: nameArguments(completePath(parameters, path)),
    body: isBodiless ? null : body,
    responses: parseResponses(raw, context),
    security: parseSecurity(raw["security"]) ?? parseSecurity(root["security"]),
  };
}

/** Drops path parameters that the template lacks. Placeholders without a description are strings. */
function completePath(parameters: readonly NamelessParameter[], path: string): readonly NamelessParameter[] {
  const names = Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name = ""]) => name);
  const kept = parameters.filter(({ place, name }) => place !== "path" || names.includes(name));
  const missing = new Set(names.filter((name) => !kept.some((one) => one.place === "path" && one.name === name)));
  return [...kept, ...[...missing].map((name) => ({ ...UNDESCRIBED, name }))];
}

const UNDESCRIBED: NamelessParameter = {
  name: "",
  place: "path",
  isRequired: true,
  format: "style",
  description: "",
  schema: { type: "string" },
  style: "simple",
  explode: false,
  allowReserved: false,
};

function toDescription({ summary, description, deprecated }: JsonObject): string {
  const texts = [summary, description].filter((text) => typeof text === "string").map((text) => text.trim());
  const said = [...new Set(texts)].filter((text) => text !== "").join("\n\n");
  return deprecated === true ? `Deprecated. ${said}`.trim() : said;
}

/** An operation's own parameter replaces one of its path with the same name and place. */
function collectParameters(raw: JsonObject, { item, references }: OperationContext): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const list of [item["parameters"], raw["parameters"]]) {
    for (const entry of Array.isArray(list) ? list : []) {
      const parameter = references.resolve(entry);
      if (parameter) found.set(JSON.stringify([parameter["in"], parameter["name"]]), parameter);
    }
  }
  return [...found.values()];
}

/** Considers every successful answer: 200 and 204 together mean that the value may be null. */
function parseResponses(raw: JsonObject, context: OperationContext): readonly Json[] | null {
  const responses = Object.entries(isJsonObject(raw["responses"]) ? raw["responses"] : {});
  const good = responses.filter(([status]) => /^2(?:\d\d|xx)$/i.test(status));
  const schemas = good.map(([status, response]) =>
    parseResponse(status, context.references.resolve(response), context),
  );
  const known = schemas.filter((schema) => schema !== undefined);
  const isAnyJson = known.some((schema) => schema !== NO_CONTENT);
  return known.length === schemas.length && isAnyJson ? known : null;
}

const NO_CONTENT: JsonObject = { type: "null" };

/** `undefined` if nothing is known about the value. */
function parseResponse(status: string, response: JsonObject | undefined, context: OperationContext): Json | undefined {
  if (!response) return undefined;
  if (context.dialect === "swagger") return parseSwaggerResponse(status, response);
  const types = Object.entries(isJsonObject(response["content"]) ? response["content"] : {});
  if (types.length === 0) return NO_CONTENT;
  if (!types.every(([mediaType]) => isJsonType(mediaType))) return undefined;
  // Requests ask for plain JSON; without it the server chooses.
  const plain = types.filter(([mediaType]) => isPlainJson(mediaType)).slice(0, 1);
  return toEither((plain.length > 0 ? plain : types).map(([, media]) => context.references.resolve(media)?.["schema"]));
}

function toEither(schemas: readonly (Json | undefined)[]): Json | undefined {
  const known = schemas.filter((schema) => schema !== undefined);
  if (known.length < schemas.length) return undefined;
  return known.length > 1 ? { anyOf: known } : known[0];
}

function parseSwaggerResponse(status: string, { schema }: JsonObject): Json | undefined {
  if (schema !== undefined) return isJsonObject(schema) && schema["type"] === "file" ? undefined : schema;
  return status === "204" || status === "205" ? NO_CONTENT : undefined;
}

/** `undefined` if the document does not say; an empty array means that no credential is needed. */
export function parseSecurity(raw: Json | undefined): readonly SecurityRequirement[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  return raw.filter((one) => isJsonObject(one)).map((one) => Object.keys(one));
}
