/** The URL parser that the guest's `URL` uses: text in, text out, in the confined child. */

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

/** JSON text of the parts of a URL; `undefined` when it is not one. */
export function parseUrlParts(href: string, base: string | undefined): string | undefined {
  const url = URL.parse(href, base);
  return url ? toParts(url) : undefined;
}

/** The parts after one of them was set as the standard says; an impossible value changes nothing. */
export function setUrlPart(href: string, part: string, value: string): string {
  const url = new URL(href);
  const name = PARTS.find((known) => known === part);
  if (name && name !== "origin") url[name] = value;
  return toParts(url);
}

function toParts(url: URL): string {
  return JSON.stringify(Object.fromEntries(PARTS.map((part) => [part, url[part]])));
}
