/** The parts of a URL as the host sends them, and the two requests that the host answers. */

import { URL_PARTS } from "../../src/sandbox/wire.ts";
import type { UrlParts } from "../../src/sandbox/wire.ts";
import { toUsvString } from "./form-encoding.ts";
import { get, parseJson, slice } from "./intrinsics.ts";

/** How much of an invalid URL its error repeats. */
const SHOWN_UNITS = 200;

/** Parses on the host: the parts as JSON, or `undefined` if the string is not a URL. */
export type ParseUrl = (href: string, base: string | undefined) => string | undefined;

/** Sets one part on the host and returns the parts as JSON; an invalid value changes nothing. */
export type SetUrlPart = (href: string, part: string, value: string) => string;

/** The base as a string, or `undefined` if there is none. */
export function toBase(base: unknown): string | undefined {
  return base === undefined ? undefined : toUsvString(base);
}

/** Returns the parts of a URL. Throws a TypeError that repeats the start of an invalid one. */
export function parseHref(parse: ParseUrl, href: unknown, base: unknown): UrlParts {
  const text = toUsvString(href);
  const parts = parse(text, toBase(base));
  if (parts === undefined) throw new TypeError("Invalid URL: " + slice(text, 0, SHOWN_UNITS));
  return parseParts(parts);
}

/** Reads the host's reply. */
export function parseParts(text: string): UrlParts {
  const raw: unknown = parseJson(text);
  const parts = { __proto__: null } as unknown as Record<string, string>;
  for (let index = 0; index < URL_PARTS.length; index += 1) {
    const name = URL_PARTS[index] as keyof UrlParts;
    const part: unknown = typeof raw === "object" && raw !== null ? get(raw, name) : undefined;
    if (typeof part !== "string") throw new TypeError("The host's reply lacks " + name);
    parts[name] = part;
  }
  return parts as UrlParts;
}
