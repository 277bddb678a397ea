/**
 * `URL` of the WHATWG standard. The host parses, because a second parser could disagree with the one that decides where
 * requests may go; this side holds the parts and keeps `searchParams` in step.
 */

import { URL_PARTS } from "../../src/sandbox/wire.ts";
import type { UrlParts } from "../../src/sandbox/wire.ts";
import { create, defineProperty, get, parseJson, slice } from "../intrinsics.ts";
import { refuseToClone } from "./clone-refusals.ts";
import { toUsvString } from "./form-encoding.ts";
import { linkSearchParams, replaceSearchParams, toSearch, URLSearchParams } from "./url-search-params.ts";

/** How much of an invalid URL its error repeats. */
const SHOWN_UNITS = 200;

/** The two requests that the host answers. */
export interface UrlHost {
  /** Returns the parts as JSON, or `undefined` if the string is not a URL. */
  readonly parse: (href: string, base: string | undefined) => string | undefined;
  /** Sets one part and returns all parts as JSON; an invalid value changes nothing. */
  readonly set: (href: string, part: string, value: string) => string;
}

/** Assigned inside the class, where the private fields can be reached. */
let bind: (url: ParsedUrl, host: UrlHost, parts: UrlParts) => void;
let current: (url: ParsedUrl) => UrlParts;
let assign: (url: ParsedUrl, part: keyof UrlParts, value: unknown) => void;

/** A parsed URL. Programs see it as the `URL` that `createUrl` makes; an unbound one is of no use to them. */
class ParsedUrl {
  #host: UrlHost | undefined;
  #parts: UrlParts | undefined;
  #searchParams: URLSearchParams | undefined;
  #isSearchStale = false;

  static {
    bind = (url, host, parts) => {
      url.#host = host;
      url.#parts = parts;
    };
    current = (url) => url.#current();
    assign = (url, part, value) => url.#assign(part, value);
  }

  /** The query as a live list: changes on either side show on the other. Always the same object. */
  get searchParams(): URLSearchParams {
    if (this.#searchParams !== undefined) return this.#searchParams;
    const params = new URLSearchParams();
    replaceSearchParams(params, slice(this.#current().search, 1));
    linkSearchParams(params, () => {
      this.#isSearchStale = true;
    });
    this.#searchParams = params;
    return params;
  }

  toString(): string {
    return this.#current().href;
  }

  toJSON(): string {
    return this.#current().href;
  }

  get [Symbol.toStringTag](): string {
    return "URL";
  }

  #assign(part: keyof UrlParts, value: unknown): void {
    const { host } = this.#bound();
    const text = toUsvString(value);
    const parts =
      part === "href" ? parseHref(host, text, undefined) : parseParts(host.set(this.#current().href, part, text));
    this.#isSearchStale = false;
    this.#parts = parts;
    if (this.#searchParams !== undefined) replaceSearchParams(this.#searchParams, slice(parts.search, 1));
  }

  /** Writes changes of `searchParams` back when a part is read, so that a loop of `append` asks the host once. */
  #current(): UrlParts {
    const { host, parts } = this.#bound();
    if (!this.#isSearchStale || this.#searchParams === undefined) return parts;
    const next = parseParts(host.set(parts.href, "search", toSearch(this.#searchParams)));
    this.#isSearchStale = false;
    this.#parts = next;
    return next;
  }

  #bound(): { readonly host: UrlHost; readonly parts: UrlParts } {
    if (this.#host === undefined || this.#parts === undefined) throw new TypeError("Illegal constructor");
    return { host: this.#host, parts: this.#parts };
  }
}

for (const part of URL_PARTS) {
  defineProperty(ParsedUrl.prototype, part, {
    configurable: true,
    get(this: ParsedUrl) {
      return current(this)[part];
    },
    ...(part !== "origin" && {
      set(this: ParsedUrl, value: unknown) {
        assign(this, part, value);
      },
    }),
  });
}
refuseToClone(ParsedUrl.prototype, "URL");

type Url = ParsedUrl & { -readonly [Part in keyof UrlParts]: string };

/** What programs use as `URL`. */
interface UrlConstructor {
  new (href: unknown, base?: unknown): Url;
  readonly prototype: Url;
  /** Whether `new URL` with these arguments would succeed. */
  canParse(href: unknown, base?: unknown): boolean;
  /** As `new URL`, with `null` in place of a TypeError. */
  parse(href: unknown, base?: unknown): Url | null;
}

/**
 * Makes the `URL` class of this realm. The host's functions stay in this closure: they are not passed up a chain of
 * classes, which the program could rewire.
 */
export function createUrl(parse: UrlHost["parse"], set: UrlHost["set"]): UrlConstructor {
  const host: UrlHost = { parse, set };
  class URL extends ParsedUrl {
    constructor(href: unknown, base?: unknown) {
      super();
      bind(this, host, parseHref(host, toUsvString(href), toBase(base)));
    }
    static canParse(href: unknown, base?: unknown): boolean {
      return parse(toUsvString(href), toBase(base)) !== undefined;
    }
    static parse(href: unknown, base?: unknown): URL | null {
      const text = toUsvString(href);
      const baseText = toBase(base);
      return parse(text, baseText) === undefined ? null : new URL(text, baseText);
    }
  }
  return URL as unknown as UrlConstructor;
}

function toBase(base: unknown): string | undefined {
  return base === undefined ? undefined : toUsvString(base);
}

/** Throws a TypeError that repeats the start of an invalid URL. */
function parseHref(host: UrlHost, href: string, base: string | undefined): UrlParts {
  const parts = host.parse(href, base);
  if (parts === undefined) throw new TypeError("Invalid URL: " + slice(href, 0, SHOWN_UNITS));
  return parseParts(parts);
}

/** Reads the host's reply. */
function parseParts(text: string): UrlParts {
  const raw: unknown = parseJson(text);
  const parts = create(null) as Record<string, string>;
  for (let index = 0; index < URL_PARTS.length; index += 1) {
    const name = URL_PARTS[index] as keyof UrlParts;
    const part: unknown = typeof raw === "object" && raw !== null ? get(raw, name) : undefined;
    if (typeof part !== "string") throw new TypeError("The host's reply lacks " + name);
    parts[name] = part;
  }
  return parts as UrlParts;
}
