/** Parses what a server asks a person: bounded, with plain fields only, and with clean text. */

import { isJsonObject } from "../../../domain/index.ts";
import type { ConnectorId, InputRequest, Json, JsonObject } from "../../../domain/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";

export const MAX_FIELDS = 20;
const MAX_MESSAGE_BYTES = 2_000;
const MAX_TEXT_BYTES = 500;
const MAX_CHOICES = 100;
const MAX_URL_CHARS = 2_000;
const NAME = /^[\w.-]{1,100}$/;
const TYPES: readonly unknown[] = ["string", "number", "integer", "boolean"];
const NUMBERS = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"] as const;
const FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"];

/** Returns `undefined` for what the protocol does not allow, or what a person cannot be expected to read. */
export function parseQuestion(
  raw: unknown,
  server: ConnectorId,
  clean: TextCleaner,
): InputRequest["question"] | undefined {
  const { mode = "form", message, requestedSchema, url } = isJsonObject(raw) ? raw : {};
  if (typeof message !== "string") return undefined;
  const shown = { server, message: toShownText(message, clean, MAX_MESSAGE_BYTES) };
  if (mode === "url") {
    const address = typeof url === "string" && url.length <= MAX_URL_CHARS ? URL.parse(url) : null;
    const isWeb = address !== null && /^https?:$/.test(address.protocol) && address.username + address.password === "";
    return isWeb ? { mode, ...shown, url: address.href } : undefined;
  }
  const schema = mode === "form" ? parseSchema(requestedSchema, clean) : undefined;
  return schema && { mode: "form", ...shown, schema };
}

function parseSchema(raw: Json | undefined, clean: TextCleaner): JsonObject | undefined {
  const { type, properties, required = [] } = isJsonObject(raw) ? raw : {};
  if (type !== "object" || !isJsonObject(properties) || !Array.isArray(required)) return undefined;
  const fields = Object.entries(properties).map(([name, field]) => [name, parseField(field, clean)] as const);
  if (fields.length > MAX_FIELDS || fields.some(([name, field]) => !NAME.test(name) || !field)) return undefined;
  const known = required.filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
  return {
    type,
    properties: Object.fromEntries(fields.flatMap(([name, field]) => (field ? [[name, field]] : []))),
    required: known,
  };
}

/** Keeps the keywords that are known here, and refuses other types: nested objects are not allowed in a form. */
function parseField(raw: Json, clean: TextCleaner): JsonObject | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { type, title, description, format, items } = raw;
  const choices = toChoices(raw);
  const texts = Object.fromEntries(
    Object.entries({ title, description }).flatMap(([key, text]) =>
      typeof text === "string" ? [[key, toShownText(text, clean, MAX_TEXT_BYTES)]] : [],
    ),
  );
  const numbers = Object.fromEntries(
    NUMBERS.flatMap((key) => (Number.isFinite(raw[key]) ? [[key, raw[key] ?? 0]] : [])),
  );
  if (type === "array") {
    const many = isJsonObject(items) ? toChoices(items) : undefined;
    return many && { type, ...texts, ...numbers, items: { type: "string", enum: many }, uniqueItems: true };
  }
  if (!TYPES.includes(type) || typeof type !== "string") return undefined;
  if (choices && type !== "string") return undefined;
  return {
    type,
    ...texts,
    ...numbers,
    ...(choices && { enum: choices }),
    ...(FORMATS.includes(format) && { format: format ?? "" }),
  };
}

/** The values of a choice: `enum`, or `const` in `oneOf` and `anyOf`. */
function toChoices({ enum: plain, oneOf, anyOf }: JsonObject): string[] | undefined {
  const titled = [oneOf, anyOf].find((list) => Array.isArray(list));
  const values = Array.isArray(plain)
    ? plain
    : Array.isArray(titled)
      ? titled.map((one) => (isJsonObject(one) ? (one["const"] ?? null) : null))
      : undefined;
  if (!values || values.length === 0 || values.length > MAX_CHOICES) return undefined;
  const texts = values.filter((value): value is string => typeof value === "string" && value.length <= MAX_TEXT_BYTES);
  return texts.length === values.length ? texts : undefined;
}
