/** The URL parser for the guest's `URL`, where no process stands behind the realm: the Worker's own, taken at the start. */

import { apply, construct, getOwnPropertyDescriptor, stringifyJson } from "../intrinsics.ts";

declare const URL: { new (href: string, base?: string): object; readonly prototype: object };

const NativeUrl = URL;
const PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

type Accessor = { readonly get: () => string; readonly set: ((value: string) => void) | undefined };

/** Without a prototype: a part that is none is not found on it. */
const ACCESSORS: Readonly<Record<string, Accessor | undefined>> = Object.assign(
  Object.create(null) as Record<string, Accessor>,
  Object.fromEntries(PARTS.map((part) => [part, getOwnPropertyDescriptor(NativeUrl.prototype, part)])),
);

/** JSON text of the parts of a URL; `undefined` when it is not one. */
export function parseUrlParts(href: string, base: string | undefined): string | undefined {
  let url: object;
  try {
    url = construct(NativeUrl, base === undefined ? [href] : [href, base]);
  } catch {
    return undefined;
  }
  return toParts(url);
}

/** The parts after one of them was set as the standard says; an impossible value changes nothing. */
export function setUrlPart(href: string, part: string, value: string): string {
  const url = construct(NativeUrl, [href]);
  const set = ACCESSORS[part]?.set;
  try {
    if (set !== undefined) apply(set, url, [value]);
  } catch {
    // Only `href` refuses; the guest asks whether it fits before it sets that.
  }
  return toParts(url);
}

function toParts(url: object): string {
  const parts = { __proto__: null } as unknown as Record<string, string>;
  for (let index = 0; index < PARTS.length; index += 1) {
    const part = PARTS[index] as string;
    parts[part] = apply(ACCESSORS[part]?.get as () => string, url, []);
  }
  return stringifyJson(parts);
}
