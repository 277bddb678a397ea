/** Texts that a plain schema allows, by its format, its pattern and its length. */

import type { JsonObject } from "../../domain/index.ts";

import { numberOf, textOf } from "./read-schema.ts";
import { samplePattern } from "./sample-pattern.ts";

/** A longer text says no more, and a server may ask for any length. */
const MOST_CHARS = 10_000;

/** From the blocks that are kept free for examples (RFC 2606, RFC 5737, RFC 3849): nobody is meant by them. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ["date-time", "2000-01-01T00:00:00Z"],
  ["date", "2000-01-01"],
  ["time", "00:00:00Z"],
  ["duration", "P1D"],
  ["email", "someone@example.com"],
  ["idn-email", "someone@example.com"],
  ["hostname", "example.com"],
  ["idn-hostname", "example.com"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["uri", "https://example.com/"],
  ["url", "https://example.com/"],
  ["uri-reference", "/"],
  ["uri-template", "/{id}"],
  ["iri", "https://example.com/"],
  ["iri-reference", "/"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
  ["json-pointer", "/a"],
  ["relative-json-pointer", "0/a"],
  ["regex", ".*"],
  ["byte", "AAAA"],
]);

/** None when the schema asks for more characters than it allows, or for too many. */
export function sampleTexts(schema: JsonObject, salt: number): readonly string[] {
  const least = Math.max(0, Math.ceil(numberOf(schema, "minLength") ?? 0));
  const most = Math.floor(numberOf(schema, "maxLength") ?? MOST_CHARS);
  if (least > most || least > MOST_CHARS) return [];
  const pattern = textOf(schema, "pattern");
  const byPattern = pattern === undefined ? [] : samplePattern(pattern, least);
  const byFormat = FORMATS.get(textOf(schema, "format") ?? "");
  const word = salt === 0 ? "text" : `text${salt}`;
  const plain = [word, `other${salt}`, `another${salt}`].map((text) => text.padEnd(least, "x").slice(0, most));
  return [...byPattern, ...(byFormat === undefined ? [] : [byFormat]), ...plain].filter(
    ({ length }) => length >= least && length <= most,
  );
}
