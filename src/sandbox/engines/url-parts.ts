/**
 * The URL parser behind the guest's `URL`: strings in, strings out. Without Node, because a Worker has it in the realm of
 * the program; everything that it uses is therefore taken before a program runs.
 */

import { URL_PARTS } from "../wire.ts";

declare const URL: {
  new (href: string): object;
  readonly prototype: object;
  parse(this: void, href: string, base?: string): object | null;
};

const { apply, construct, getOwnPropertyDescriptor } = Reflect;
const { parse } = URL;
const { create } = Object;
const { stringify } = JSON;
const RealUrl = URL;
const ACCESSORS = URL_PARTS.map((part) => ({ part, ...getOwnPropertyDescriptor(RealUrl.prototype, part) }));

/** Returns the parts of a URL as JSON, or `undefined` if `href` is not a URL. */
export function parseUrlParts(href: string, base: string | undefined): string | undefined {
  const url = apply(parse, RealUrl, base === undefined ? [href] : [href, base]);
  return url === null ? undefined : toParts(url);
}

/** Sets one part as the URL standard says and returns all parts; an invalid value changes nothing. */
export function setUrlPart(href: string, part: string, value: string): string {
  const url: object = construct(RealUrl, [href]);
  for (let index = 0; index < ACCESSORS.length; index += 1) {
    const accessor = ACCESSORS[index];
    if (accessor?.part === part && accessor.set) apply(accessor.set, url, [value]);
  }
  return toParts(url);
}

function toParts(url: object): string {
  const parts: Record<string, unknown> = create(null);
  for (let index = 0; index < ACCESSORS.length; index += 1) {
    const accessor = ACCESSORS[index];
    if (accessor?.get) parts[accessor.part] = apply(accessor.get, url, []);
  }
  return stringify(parts);
}
