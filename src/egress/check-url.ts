/** Parses a URL once, strictly. Pure; it never connects. */

import { GloveboxError, toPlace } from "../domain/index.ts";

const SCHEMES: readonly string[] = ["http:", "https:"];
const MAX_URL_CHARS = 8192;

/** The canonical origin of an upstream. A path, a query or credentials in it are refused, not ignored. */
export function parseOrigin(raw: string): string {
  const url = parseUrl(raw);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw denied(`${JSON.stringify(raw)} is not an origin`, "Use only scheme, host and port");
  }
  return url.origin;
}

/**
 * Parses once and returns what was checked, so that the decision and the connection use the same URL. Removes a final
 * dot from the host and the fragment.
 */
export function parseUrl(raw: string | URL, base?: URL): URL {
  const text = String(raw);
  const url = text.length > MAX_URL_CHARS ? null : URL.parse(text, base?.href);
  if (!url) throw denied("The address is not a URL", "Write it as https://host/path");
  if (!SCHEMES.includes(url.protocol)) {
    throw denied(`The scheme ${url.protocol} is not allowed`, "Use http or https");
  }
  if (url.username !== "" || url.password !== "") {
    throw denied("The URL contains credentials", "Put them in a header, from a secret");
  }
  if (url.hostname.endsWith(".")) url.hostname = toPlace(url).host;
  if (/^\.|\.\.|\.$/.test(url.hostname)) throw denied("The host has an empty label", "Write it without extra dots");
  url.hash = "";
  return url;
}

/** The error for a refusal. `message` must not contain a whole URL, which may hold a secret. */
export function denied(message: string, hint: string): GloveboxError {
  return new GloveboxError("EGRESS_DENIED", message, { hint });
}
