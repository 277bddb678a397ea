/** The parts of a URL as the host sends them, and the two questions that the host answers. */

import { toUsvString } from "./form-encoding.ts";
import { get, parseJson, slice } from "./intrinsics.ts";

/** How much of a refused text its error repeats. */
const SHOWN_UNITS = 200;

/** What the host answers; named as the properties of `URL`. */
export interface Parts {
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

/** Parses on the host: JSON text of the parts, or `undefined` when the text is no URL. */
export type ParseUrl = (href: string, base: string | undefined) => string | undefined;

/** Sets one part on the host: JSON text of the parts afterwards, the same as before when the value does not fit. */
export type SetUrlPart = (href: string, part: string, value: string) => string;

/** The base as text; `undefined` when none is given. */
export function toBase(base: unknown): string | undefined {
  return base === undefined ? undefined : toUsvString(base);
}

/** The parts of a text that must be a URL; a TypeError that repeats its beginning otherwise. */
export function parseHref(parse: ParseUrl, href: unknown, base: unknown): Parts {
  const text = toUsvString(href);
  const parts = parse(text, toBase(base));
  if (parts === undefined) throw new TypeError("Invalid URL: " + slice(text, 0, SHOWN_UNITS));
  return parseParts(parts);
}

/** Reads what the host answered. */
export function parseParts(text: string): Parts {
  const raw: unknown = parseJson(text);
  const read = (name: keyof Parts): string => {
    const part: unknown = typeof raw === "object" && raw !== null ? get(raw, name) : undefined;
    if (typeof part !== "string") throw new TypeError("The host's answer lacks " + name);
    return part;
  };
  return {
    href: read("href"),
    origin: read("origin"),
    protocol: read("protocol"),
    username: read("username"),
    password: read("password"),
    host: read("host"),
    hostname: read("hostname"),
    port: read("port"),
    pathname: read("pathname"),
    search: read("search"),
    hash: read("hash"),
  };
}
