/** The URL parser behind the guest's `URL` in a Worker, which has no process around it: the Worker's own, taken before the program runs. */

import { URL_PARTS } from "../../src/sandbox/wire.ts";
import { apply, construct, getOwnPropertyDescriptor, stringifyJson } from "../intrinsics.ts";

declare const URL: { new (href: string, base?: string): object; readonly prototype: object };

const NativeUrl = URL;
type Accessor = { readonly get: () => string; readonly set: ((value: string) => void) | undefined };

/** Without a prototype, so that only parts are found on it. */
const ACCESSORS: Readonly<Record<string, Accessor | undefined>> = Object.assign(
  Object.create(null) as Record<string, Accessor>,
  Object.fromEntries(URL_PARTS.map((part) => [part, getOwnPropertyDescriptor(NativeUrl.prototype, part)])),
);

/** Returns the parts of a URL as JSON, or `undefined` if `href` is not a URL. */
export function parseUrlParts(href: string, base: string | undefined): string | undefined {
  let url: object;
  try {
    url = construct(NativeUrl, base === undefined ? [href] : [href, base]);
  } catch {
    return undefined;
  }
  return toParts(url);
}

/** Sets one part as the URL standard says and returns all parts; an invalid value changes nothing. */
export function setUrlPart(href: string, part: string, value: string): string {
  const url = construct(NativeUrl, [href]);
  const set = ACCESSORS[part]?.set;
  try {
    if (set !== undefined) apply(set, url, [value]);
  } catch {
    // Only `href` throws, and the guest checks that value before it sets it.
  }
  return toParts(url);
}

function toParts(url: object): string {
  const parts = { __proto__: null } as unknown as Record<string, string>;
  for (let index = 0; index < URL_PARTS.length; index += 1) {
    const part = URL_PARTS[index] as string;
    parts[part] = apply(ACCESSORS[part]?.get as () => string, url, []);
  }
  return stringifyJson(parts);
}
