/** Reads a parameter of either version, and gives the parameters of one operation unique names. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import { isJsonType, isTextType } from "../media-type.ts";
import { BODY_ARGUMENT } from "../operation.ts";
import type { Parameter, ParameterPlace, Serialization, Style } from "../operation.ts";
import { toObject } from "./references.ts";

const PLACES: readonly ParameterPlace[] = ["path", "query", "header", "cookie"];
const STYLES: Readonly<Record<ParameterPlace, readonly Style[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};
/** OpenAPI 3.1, 4.8.12.2.1: these headers are not parameters. The others belong to the connection. */
const NO_PARAMETER = new Set(
  "accept content-type authorization cookie host content-length connection transfer-encoding upgrade te trailer".split(
    " ",
  ),
);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110 §5.6.2
const MAX_NAME_LENGTH = 256;

export type NamelessParameter = Omit<Parameter, "argument">;

/** `undefined` for anything but a parameter: the body of Swagger, a header that only the host sets, a malformed entry. */
export function parseParameter(raw: JsonObject, isSwagger: boolean): NamelessParameter | undefined {
  const { name, description, required, allowReserved } = raw;
  const place = PLACES.find((one) => one === raw["in"]);
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH || place === undefined) return undefined;
  if (place === "header" && NO_PARAMETER.has(name.toLowerCase())) return undefined;
  if ((place === "header" || place === "cookie") && !TOKEN.test(name)) return undefined;
  const [mediaType = "", media] = Object.entries(toObject(raw["content"]))[0] ?? [];
  const content = isJsonObject(media) ? media : undefined;
  return {
    name,
    place,
    isRequired: place === "path" || required === true,
    format: content ? formatOf(mediaType) : "style",
    description: typeof description === "string" ? description : "",
    schema: isSwagger ? toSwaggerSchema(raw) : (content?.["schema"] ?? raw["schema"] ?? {}),
    allowReserved: allowReserved === true,
    ...(isSwagger ? parseCollectionFormat(raw["collectionFormat"], place) : parseStyle(raw, place)),
  };
}

/** `content` has exactly one entry; an unknown type is treated as JSON. */
function formatOf(mediaType: string): Parameter["format"] {
  return isTextType(mediaType) && !isJsonType(mediaType) ? "text" : "json";
}

type StyleAndExplode = Pick<Serialization, "style" | "explode">;

/** A style that the place does not have is ignored. `explode` is the default for `form` only. */
export function parseStyle({ style, explode }: JsonObject, place: ParameterPlace): StyleAndExplode {
  const [usual = "form", ...others] = STYLES[place];
  const chosen = others.find((one) => one === style) ?? usual;
  return { style: chosen, explode: typeof explode === "boolean" ? explode : chosen === "form" };
}

const DELIMITED: ReadonlyMap<Json | undefined, Style> = new Map([
  ["ssv", "spaceDelimited"],
  ["tsv", "tabDelimited"],
  ["pipes", "pipeDelimited"],
]);

/** `csv` is the default of Swagger in every place. */
export function parseCollectionFormat(format: Json | undefined, place: ParameterPlace): StyleAndExplode {
  const style = DELIMITED.get(format) ?? STYLES[place][0] ?? "form";
  return { style, explode: format === "multi" };
}

const NOT_SCHEMA = new Set(["name", "in", "description", "required", "collectionFormat", "allowEmptyValue"]);

/** Swagger writes a parameter's schema among its other keys. */
export function toSwaggerSchema(raw: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !NOT_SCHEMA.has(key)));
}

/**
 * A parameter keeps its name. If two places share one, the first of path, query, header, cookie keeps it, and the other
 * is named after its place: `query_id`. The name `body` belongs to the request's body.
 */
export function nameArguments(parameters: readonly NamelessParameter[]): readonly Parameter[] {
  const ordered = parameters.toSorted((a, b) => PLACES.indexOf(a.place) - PLACES.indexOf(b.place));
  const taken = new Set([BODY_ARGUMENT, ...ordered.map(({ name }) => name)]);
  const kept = new Set([BODY_ARGUMENT]);
  return ordered.map((parameter) => {
    const { name, place } = parameter;
    if (!kept.has(name)) {
      kept.add(name);
      return { ...parameter, argument: name };
    }
    let argument = `${place}_${name}`;
    while (taken.has(argument)) argument += "_";
    taken.add(argument);
    return { ...parameter, argument };
  });
}
