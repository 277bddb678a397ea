/**
 * `URL` of the WHATWG standard. The host parses, because a second parser would sooner or later disagree with the
 * one that decides where requests may go; this side holds the parts and keeps `searchParams` in step.
 */

import { refuseToClone } from "./clone-refusals.ts";
import { toUsvString } from "./form-encoding.ts";
import { slice } from "./intrinsics.ts";
import type { UrlParts } from "../../src/sandbox/wire.ts";
import type { ParseUrl, SetUrlPart } from "./url-parts.ts";
import { parseHref, parseParts, toBase } from "./url-parts.ts";
import { linkSearchParams, replaceSearchParams, toSearch, URLSearchParams } from "./url-search-params.ts";

interface UrlHost {
  readonly parse: ParseUrl;
  readonly set: SetUrlPart;
}

/** Gives a new object its parts; assigned inside the class, where the private fields are in reach. */
let bind: (url: ParsedUrl, host: UrlHost, parts: UrlParts) => void;

/** A parsed URL. Programs meet it as the `URL` that `createUrl` makes, and an unbound one is of no use to them. */
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
  }

  get href(): string {
    return this.#current().href;
  }
  set href(value: string) {
    const { parse } = this.#bound();
    this.#adopt(parseHref(parse, value, undefined));
  }

  /** Scheme, host and port; `"null"` where the scheme has no such notion. */
  get origin(): string {
    return this.#current().origin;
  }

  get protocol(): string {
    return this.#current().protocol;
  }
  set protocol(value: string) {
    this.#set("protocol", value);
  }

  get username(): string {
    return this.#current().username;
  }
  set username(value: string) {
    this.#set("username", value);
  }

  get password(): string {
    return this.#current().password;
  }
  set password(value: string) {
    this.#set("password", value);
  }

  get host(): string {
    return this.#current().host;
  }
  set host(value: string) {
    this.#set("host", value);
  }

  get hostname(): string {
    return this.#current().hostname;
  }
  set hostname(value: string) {
    this.#set("hostname", value);
  }

  get port(): string {
    return this.#current().port;
  }
  set port(value: string) {
    this.#set("port", value);
  }

  get pathname(): string {
    return this.#current().pathname;
  }
  set pathname(value: string) {
    this.#set("pathname", value);
  }

  get search(): string {
    return this.#current().search;
  }
  set search(value: string) {
    this.#set("search", value);
  }

  get hash(): string {
    return this.#current().hash;
  }
  set hash(value: string) {
    this.#set("hash", value);
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

  #set(part: keyof UrlParts, value: unknown): void {
    const { set } = this.#bound();
    const text = toUsvString(value);
    this.#adopt(parseParts(set(this.#current().href, part, text)));
  }

  #adopt(parts: UrlParts): void {
    this.#isSearchStale = false;
    this.#parts = parts;
    if (this.#searchParams !== undefined) replaceSearchParams(this.#searchParams, slice(parts.search, 1));
  }

  /** Writes changes of `searchParams` back when a part is read, so that a loop of `append` asks the host once. */
  #current(): UrlParts {
    const { set, parts } = this.#bound();
    if (!this.#isSearchStale || this.#searchParams === undefined) return parts;
    const next = parseParts(set(parts.href, "search", toSearch(this.#searchParams)));
    this.#isSearchStale = false;
    this.#parts = next;
    return next;
  }

  #bound(): UrlHost & { readonly parts: UrlParts } {
    if (this.#host === undefined || this.#parts === undefined) throw new TypeError("Illegal constructor");
    return { parse: this.#host.parse, set: this.#host.set, parts: this.#parts };
  }
}

refuseToClone(ParsedUrl.prototype, "URL");

/** What programs use as `URL`. */
export interface UrlConstructor {
  new (href: unknown, base?: unknown): ParsedUrl;
  readonly prototype: ParsedUrl;
  /** Whether `new URL` with these arguments would succeed. */
  canParse(href: unknown, base?: unknown): boolean;
  /** As `new URL`, with `null` in place of a TypeError. */
  parse(href: unknown, base?: unknown): ParsedUrl | null;
}

/**
 * Makes the `URL` class of this realm.
 * The two functions stay in this closure: they are not passed up a chain of classes, which the program could rewire.
 */
export function createUrl(parse: ParseUrl, set: SetUrlPart): UrlConstructor {
  const host: UrlHost = { parse, set };
  class URL extends ParsedUrl {
    constructor(href: unknown, base?: unknown) {
      super();
      bind(this, host, parseHref(parse, href, base));
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
  return URL;
}
