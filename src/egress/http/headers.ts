/** Which headers may leave, and which of them may follow a redirect to another host. */

import { denied } from "../check-url.ts";

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/; // RFC 9110 §5.6.2
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 32 * 1024;

/** They frame the message or belong to one connection, so only the host may set them (RFC 9110 §7.6.1, RFC 9112). */
const OWN = new Set([
  ..."connection content-length expect host http2-settings keep-alive te trailer transfer-encoding upgrade".split(" "),
  ..."proxy-authenticate proxy-authorization proxy-connection via".split(" "),
]);

/** What says nothing about who asks. Every other header stays behind when a redirect leads to another origin. */
const HARMLESS = new Set(["accept", "accept-language", "user-agent"]);
const ABOUT_BODY = /^content-/;

/** Reads what a program asks to send. Throws `EGRESS_DENIED` for what could change the framing or the target. */
export function parseGuestHeaders(pairs: readonly (readonly [string, string])[]): Headers {
  const bytes = pairs.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (pairs.length > MAX_HEADERS || bytes > MAX_HEADER_BYTES) {
    throw denied(`More than ${MAX_HEADERS} headers or ${MAX_HEADER_BYTES} bytes of them`, "Send fewer headers");
  }
  const headers = new Headers();
  for (const [name, value] of pairs) {
    if (!NAME.test(name) || BAD_VALUE.test(value)) throw denied("A header is malformed", "Remove control characters");
    refuseOwn(name);
    headers.append(name, value);
  }
  headers.delete("accept-encoding"); // what comes back is decoded here, so this is decided here
  return headers;
}

/** What an upstream's client or an adapter asks to send: names that arguments may have chosen are among them. */
export function checkHeaders(headers: Headers): Headers {
  headers.delete("content-length"); // clients count for themselves; the body is counted here once more
  for (const name of headers.keys()) refuseOwn(name);
  return headers;
}

/** With two framings in one request, two readers find two ends, and what lies between becomes a request of its own. */
function refuseOwn(name: string): void {
  if (OWN.has(name.toLowerCase())) throw denied(`The header ${name} may not be set`, "Leave it to the gateway");
}

/** The headers of the next request after a redirect. */
export function toNextHeaders(
  headers: Headers,
  { isSameOrigin, keepsBody }: { isSameOrigin: boolean; keepsBody: boolean },
): Headers {
  const kept = [...headers].filter(
    ([name]) => (isSameOrigin || HARMLESS.has(name)) && (keepsBody || !ABOUT_BODY.test(name)),
  );
  return new Headers(kept);
}
