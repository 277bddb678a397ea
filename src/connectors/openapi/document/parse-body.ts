/** Reads what an operation sends: the request body of OpenAPI 3, the body and form parameters of Swagger. */

import { defined, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Body, BodyKind, Serialization } from "../operation.ts";
import { isJsonType, isPlainJson, isTextType } from "../media-type.ts";
import { parseCollectionFormat, parseStyle, toSwaggerSchema } from "./parse-parameter.ts";
import { findBinaries } from "./find-properties.ts";
import { toList, toObject } from "./references.ts";
import type { References } from "./references.ts";

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";
/** The order of preference when a document offers several. */
const KINDS: readonly BodyKind[] = ["json", "form", "multipart", "text", "binary"];

/** `null` for an operation that sends nothing. */
export function parseBody(raw: JsonObject | undefined, references: References): Body | null {
  const offers = Object.entries(toObject(raw?.["content"])).map(([mediaType, media]) => ({
    kind: kindOf(mediaType),
    mediaType,
    media: references.resolve(media) ?? {},
  }));
  const [chosen] = offers.toSorted((a, b) => placeOf(a) - placeOf(b));
  if (!raw || !chosen) return null;
  const { kind, mediaType, media } = chosen;
  const schema = media["schema"] ?? {};
  return {
    kind,
    mediaType: toConcrete(mediaType, kind),
    isRequired: raw["required"] === true,
    description: typeof raw["description"] === "string" ? raw["description"] : "",
    schema,
    encodings: parseEncodings(media["encoding"]),
    binaries: kind === "multipart" ? findBinaries(schema, references) : new Set(),
  };
}

/** Prefers plain JSON: a `+json` type may have its own format for changes. */
function placeOf({ kind, mediaType }: { readonly kind: BodyKind; readonly mediaType: string }): number {
  return isPlainJson(mediaType) ? -1 : KINDS.indexOf(kind);
}

function kindOf(mediaType: string): BodyKind {
  const essence = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (isJsonType(essence) || essence === "*/*") return "json";
  if (essence === FORM) return "form";
  if (essence.startsWith("multipart/")) return "multipart";
  return isTextType(essence) ? "text" : "binary";
}

/** A range such as `image/*` cannot be sent; a line break would end the header. */
function toConcrete(mediaType: string, kind: BodyKind): string {
  if (/^[\w.+-]+\/[\w.+-]+(?:\s*;[\x20-\x7e]*)?$/.test(mediaType)) return mediaType;
  if (kind === "json") return "application/json";
  return kind === "text" ? "text/plain" : "application/octet-stream";
}

/** Without a style, a property follows the default of its kind. */
function parseEncodings(raw: Json | undefined): ReadonlyMap<string, Serialization> {
  const encodings = new Map<string, Serialization>();
  for (const [name, encoding] of Object.entries(toObject(raw))) {
    if (!isJsonObject(encoding) || (encoding["style"] === undefined && encoding["explode"] === undefined)) continue;
    encodings.set(name, { ...parseStyle(encoding, "query"), allowReserved: encoding["allowReserved"] === true });
  }
  return encodings;
}

/** Swagger describes a form as separate parameters; here they are the properties of one object. */
export function parseSwaggerBody(
  parameters: readonly JsonObject[],
  consumes: Json | undefined,
  references: References,
): Body | null {
  const types = toList(consumes).filter((one) => typeof one === "string");
  const fields = parameters.filter((one) => one["in"] === "formData" && typeof one["name"] === "string");
  if (fields.length > 0) return toForm(fields, types);
  const body = parameters.find((one) => one["in"] === "body");
  if (!body) return null;
  const { schema = {}, description, required } = body;
  const offered = types.length > 0 ? types : ["application/json"];
  const content = Object.fromEntries(offered.map((mediaType): [string, Json] => [mediaType, { schema }]));
  return parseBody({ content, required: required ?? false, description: description ?? "" }, references);
}

function toForm(fields: readonly JsonObject[], types: readonly string[]): Body {
  const nameOf = ({ name }: JsonObject): string => (typeof name === "string" ? name : "");
  const files = fields.filter(({ type }) => type === "file").map(nameOf);
  const isMultipart = files.length > 0 || (types.includes(MULTIPART) && !types.includes(FORM));
  const required = fields.filter((field) => field["required"] === true).map(nameOf);
  const properties = fields.map((field): [string, Json] => {
    const description = typeof field["description"] === "string" ? field["description"] : undefined;
    return [nameOf(field), { ...toSwaggerSchema(field), ...defined({ description }) }];
  });
  const encodings = fields.map((field): [string, Serialization] => [
    nameOf(field),
    { ...parseCollectionFormat(field["collectionFormat"], "query"), allowReserved: false },
  ]);
  return {
    kind: isMultipart ? "multipart" : "form",
    mediaType: isMultipart ? MULTIPART : FORM,
    isRequired: required.length > 0,
    description: "",
    schema: { type: "object", properties: Object.fromEntries(properties), required },
    encodings: new Map(encodings),
    binaries: new Set(files),
  };
}
