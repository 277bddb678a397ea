/** How values become text in a URL, a header, a cookie or a form: the styles of OpenAPI 3 (mostly RFC 6570). */

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Serialization, Style } from "../operation.ts";

/** A name and a value, both encoded. */
export type Pair = readonly [name: string, value: string];

type Encode = (text: string) => string;

const DELIMITERS: Readonly<Partial<Record<Style, string>>> = {
  spaceDelimited: "%20",
  pipeDelimited: "%7C",
  tabDelimited: "%09",
};

/** Encodes everything but letters, digits and `-_.!~*'()`; a lone surrogate becomes U+FFFD. */
export function encodePercent(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** `&`, `=`, `+`, `;` and `#` stay encoded: they could end a value and begin another parameter. */
function encodeReserved(text: string): string {
  return encodePercent(text).replace(/%(?:3A|2F|3F|40|24|2C)/g, decodeURIComponent);
}

/** For a query or a form. `null` is not sent. */
export function toPairs(name: string, value: Json, { style, explode, allowReserved }: Serialization): readonly Pair[] {
  const encode = allowReserved ? encodeReserved : encodePercent;
  const delimiter = DELIMITERS[style] ?? ",";
  const key = encodePercent(name);
  if (value === null) return [];
  if (style === "deepObject" && typeof value === "object") return toDeepPairs(key, value, encode);
  if (Array.isArray(value)) {
    const items = toTexts(value, encode);
    if (explode) return items.map((item): Pair => [key, item]);
    return items.length === 0 ? [] : [[key, items.join(delimiter)]];
  }
  if (!isJsonObject(value)) return [[key, encode(toPlainText(value))]];
  const entries = toEntries(value, encode);
  return explode ? entries : [[key, entries.flat().join(delimiter)]];
}

/** `filter[color][0]=red`. The depth of arguments is limited where they enter. */
function toDeepPairs(key: string, value: Json, encode: Encode): readonly Pair[] {
  if (value === null) return [];
  if (typeof value !== "object") return [[key, encode(String(value))]];
  return Object.entries(value).flatMap(([name, child]) => toDeepPairs(`${key}[${encodePercent(name)}]`, child, encode));
}

/** For a segment of a path. */
export function toPathText(name: string, value: Json, { style, explode }: Serialization): string {
  if (style === "label") return `.${toListText(value, { explode, delimiter: explode ? "." : "," })}`;
  if (style === "matrix") return toMatrixText(encodePercent(name), value, explode);
  return toListText(value, { explode, delimiter: DELIMITERS[style] ?? "," });
}

function toMatrixText(name: string, value: Json, explode: boolean): string {
  if (explode && Array.isArray(value))
    return toTexts(value, encodePercent)
      .map((item) => `;${name}=${item}`)
      .join("");
  if (explode && isJsonObject(value)) return `;${toListText(value, { explode, delimiter: ";" })}`;
  return `;${name}=${toListText(value, { explode, delimiter: "," })}`;
}

/** For a header, whose text is not encoded; the caller checks it. */
export function toHeaderText(value: Json, { explode }: Serialization): string {
  return toListText(value, { explode, delimiter: ",", encode: (text) => text });
}

function toListText(
  value: Json,
  { explode, delimiter, encode = encodePercent }: { explode: boolean; delimiter: string; encode?: Encode },
): string {
  if (Array.isArray(value)) return toTexts(value, encode).join(delimiter);
  if (!isJsonObject(value)) return encode(value === null ? "" : toPlainText(value));
  const entries = toEntries(value, encode);
  return explode ? entries.map((pair) => pair.join("=")).join(delimiter) : entries.flat().join(",");
}

function toTexts(values: readonly Json[], encode: Encode): readonly string[] {
  return values.filter((value) => value !== null).map((value) => encode(toPlainText(value)));
}

function toEntries(value: JsonObject, encode: Encode): readonly Pair[] {
  return Object.entries(value)
    .filter(([, child]) => child !== null)
    .map(([key, child]): Pair => [encode(key), encode(toPlainText(child))]);
}

/** The error for a value that cannot be sent in its place. */
export function invalidArgument(argument: string, problem: string): GloveboxError {
  return new GloveboxError("TOOL_ARGUMENTS_INVALID", `${argument}: ${problem}`, {
    hint: "Correct this argument; `describe` shows its meaning",
  });
}

/** No style defines an array inside an array, so it is sent as JSON. */
export function toPlainText(value: Json): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
