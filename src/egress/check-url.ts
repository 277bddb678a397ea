/** Decides on a parsed URL whether a request to a configured upstream may leave. Pure; it never connects. */

import { GloveboxError } from "../domain/index.ts";

const SCHEMES: readonly string[] = ["http:", "https:"];

/** The canonical origin that an operator configured. A path, a query or credentials in it are refused, not ignored. */
export function parseOrigin(raw: string): string {
  const url = parseUrl(raw);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw denied(`${JSON.stringify(raw)} is not an origin`, "Give scheme, host and port only");
  }
  return url.origin;
}

/**
 * Parses once and returns what was checked, so that nobody decides on one reading and connects by another.
 * Comparing whole origins also forbids a downgrade from https to http.
 */
export function parseRequestUrl(raw: string | URL, origin: string): URL {
  const url = parseUrl(String(raw));
  if (url.origin === origin) return url;
  throw denied(
    `A request for ${url.origin} is not allowed: this upstream is ${origin}`,
    "Configure the upstream with the address that it really has",
  );
}

function parseUrl(raw: string): URL {
  const url = URL.parse(raw);
  if (!url) throw denied("The address is not a URL", "Write it as https://host/path");
  if (!SCHEMES.includes(url.protocol)) {
    throw denied(`The scheme ${url.protocol} is not allowed`, "Only http and https lead out");
  }
  if (url.username !== "" || url.password !== "") {
    throw denied("The URL carries credentials", "Put them in a header, from a secret");
  }
  return url;
}

/** The one shape of a refusal; `message` must not repeat a whole URL, which may hold a secret. */
export function denied(message: string, hint: string): GloveboxError {
  return new GloveboxError("EGRESS_DENIED", message, { hint });
}
