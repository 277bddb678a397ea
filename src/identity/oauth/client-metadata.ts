/** What the authorization server keeps of a client's description of itself: the few fields that it uses, within limits. */

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { Egress, FetchLike } from "../../egress/index.ts";
import { cleanText } from "../../text/index.ts";

import { isApplicationUrl } from "./application-url.ts";
import type { OauthPayload } from "./oauth-records.ts";

/** Enough for every client that is known, and too little to store or to send much. */
export const MAX_DOCUMENT_BYTES = 5 * 1024;
const MAX_REDIRECTS = 20;
const MAX_URI_CHARS = 1024;
const MAX_NAME_BYTES = 100;
const COPIED = ["client_id", "response_types", "token_endpoint_auth_method"] as const;
/** Of a client that names none: with another one it would get a secret. */
const USUAL = { token_endpoint_auth_method: "none" };
/** Clients list all that they know, such as device codes. */
const GRANT_TYPES: readonly unknown[] = ["authorization_code", "refresh_token"];

/**
 * As the authorization server wants it. All clients are native ones: their redirects may have a scheme of their own or any
 * port of the loopback address, and http is refused elsewhere. Throws TypeError.
 */
export function normalizeClient(raw: unknown): OauthPayload {
  if (!isJsonObject(raw)) throw new TypeError("The description of a client must be a JSON object");
  const uris: unknown = raw["redirect_uris"];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS)
    throw new TypeError(`redirect_uris must have 1 to ${MAX_REDIRECTS} addresses`);
  if (!uris.every((uri) => typeof uri === "string" && uri.length <= MAX_URI_CHARS && isPlainUri(uri)))
    throw new TypeError(`redirect_uris must have valid addresses of at most ${MAX_URI_CHARS} characters`);
  if (!uris.every(leadsBack)) throw new TypeError("redirect_uris must lead to https, this machine or an application");
  const copied = COPIED.filter((key) => raw[key] !== undefined).map((key) => [key, raw[key]] as const);
  const [name, grants] = [raw["client_name"], raw["grant_types"]];
  // Without a code the package refuses it.
  const isUsable = Array.isArray(grants) && grants.includes("authorization_code");
  const known = isUsable ? grants.filter((one) => GRANT_TYPES.includes(one)) : grants;
  return {
    ...USUAL,
    ...Object.fromEntries(copied),
    redirect_uris: uris,
    ...(known !== undefined && { grant_types: known }),
    ...(typeof name === "string" && { client_name: toName(name) }),
    application_type: "native",
  };
}

/** One line, so that it cannot look like a part of the page that shows it. */
function toName(raw: string): string {
  return cleanText(raw, { maxBytes: MAX_NAME_BYTES }).replaceAll(/\s+/g, " ").trim();
}

/** The package checks which hosts http and https may have. */
function leadsBack(text: string): boolean {
  const url = new URL(text);
  return url.protocol === "https:" || url.protocol === "http:" || isApplicationUrl(url);
}

/** A redirect with a password would show another host than it leads to. */
function isPlainUri(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && /^[\x21-\x7e]+$/.test(text);
}

/** Fetches documents through the egress rules: public addresses, https, no redirect to another origin, a few kilobytes. */
export function createDocumentFetch(egress: Pick<Egress, "fetchFrom">, admit: () => boolean): FetchLike {
  return async (raw, init = {}) => {
    const url = new URL(raw);
    if (url.protocol !== "https:") throw new TypeError("A client document needs https");
    if (!admit()) throw new TypeError("Too many client documents");
    const fetch = egress.fetchFrom(url.origin, { maxBytes: MAX_DOCUMENT_BYTES });
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      ...(init.signal && { signal: init.signal }),
    });
    const body = JSON.stringify(normalizeClient(response.ok ? parseJson(await response.text()) : undefined));
    const cache = response.headers.get("cache-control");
    return new Response(body, { status: response.status, headers: cache === null ? {} : { "cache-control": cache } });
  };
}
