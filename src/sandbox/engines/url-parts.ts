/** The URL parser behind the guest's `URL`, in the confined child: strings in, strings out. */

import { URL_PARTS } from "../wire.ts";

/** Returns the parts of a URL as JSON, or `undefined` if `href` is not a URL. */
export function parseUrlParts(href: string, base: string | undefined): string | undefined {
  const url = URL.parse(href, base);
  return url ? toParts(url) : undefined;
}

/** Sets one part as the URL standard says and returns all parts; an invalid value changes nothing. */
export function setUrlPart(href: string, part: string, value: string): string {
  const url = new URL(href);
  const name = URL_PARTS.find((known) => known === part);
  if (name && name !== "origin") url[name] = value;
  return toParts(url);
}

function toParts(url: URL): string {
  return JSON.stringify(Object.fromEntries(URL_PARTS.map((part) => [part, url[part]])));
}
