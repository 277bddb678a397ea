/** Which headers may be sent, and which of them may follow a redirect to another host. */

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

/** Headers that reveal nothing about the sender. All others are dropped when a redirect leads to another origin. */
const HARMLESS = new Set(["accept", "accept-language", "user-agent"]);
const ABOUT_BODY = /^content-/;

/** Reads the headers of a program. Throws `EGRESS_DENIED` for one that could change the framing or the target. */
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
  headers.delete("accept-encoding"); // responses are decoded here, so the encodings are chosen here
  return headers;
}

/** Checks the headers of an upstream's client or an adapter. Arguments may have chosen some of their names. */
export function checkHeaders(headers: Headers): Headers {
  headers.delete("content-length"); // set again from the actual body
  for (const name of headers.keys()) refuseOwn(name);
  return headers;
}

/** With two framings in one request, two readers find two ends, and the data in between becomes a second request. */
function refuseOwn(name: string): void {
  if (OWN.has(name.toLowerCase())) throw denied(`The header ${name} cannot be set`, "Leave it to the gateway");
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
