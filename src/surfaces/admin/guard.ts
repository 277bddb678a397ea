/**
 * Runs before every route, and before the admin API. A web page can make the browser send requests to this machine (DNS rebinding, cross-site
 * requests). It can forge neither `Host` nor `Origin`, so both are checked.
 */

import { createHash, timingSafeEqual } from "node:crypto";

import { GloveboxError } from "../../domain/index.ts";

/** Large enough for a program with its input at `/mcp`. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The Host headers of clients on this machine for `port`; a browser omits the default port. */
export function loopbackHosts(port: number, host = "127.0.0.1"): ReadonlySet<string> {
  const names = [host.includes(":") ? `[${host}]` : host, "127.0.0.1", "localhost", "[::1]"];
  return new Set([...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])]);
}

/** Throws `REQUEST_FORBIDDEN` for another `Host`, and for an `Origin` other than the admin page. */
export function checkAddress(headers: Headers, allowedHosts: ReadonlySet<string>): void {
  const host = headers.get("host")?.toLowerCase() ?? "";
  if (!allowedHosts.has(host)) {
    throw new GloveboxError("REQUEST_FORBIDDEN", "The Host header does not name this machine", {
      hint: `Use the address ${[...allowedHosts][0] ?? "of this machine"}`,
    });
  }
  const origin = headers.get("origin")?.toLowerCase();
  if (origin === undefined || isOwnOrigin(origin, allowedHosts)) return;
  throw new GloveboxError("REQUEST_FORBIDDEN", "Cross-origin requests are not allowed", {
    hint: "Use a program that is not a web page, or the admin page itself",
  });
}

/** Throws `LIMIT_SIZE` for a larger content length. A body without a length is counted while it is read. */
export function checkBodySize(headers: Headers): void {
  const length = Number(headers.get("content-length") ?? 0);
  if (length <= MAX_BODY_BYTES) return;
  throw new GloveboxError("LIMIT_SIZE", `A request body has at most ${MAX_BODY_BYTES} bytes`, {
    hint: "Send less data; let the program fetch it through a tool",
  });
}

/** Every origin except `http://` with an allowed host is foreign, including `null` of a sandboxed frame. */
function isOwnOrigin(origin: string, allowedHosts: ReadonlySet<string>): boolean {
  const scheme = "http://";
  return origin.startsWith(scheme) && allowedHosts.has(origin.slice(scheme.length));
}

/** Throws `REQUEST_UNAUTHENTICATED` unless the `Authorization` header carries exactly `token`. */
export function checkToken(authorization: string | undefined, token: string): void {
  const sent = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (sent !== undefined && timingSafeEqual(digest(sent), digest(token))) return;
  throw new GloveboxError("REQUEST_UNAUTHENTICATED", "The admin API needs the token of this start", {
    hint: "Open the address that `glovebox serve` prints",
  });
}

/** Digests are compared, so that the time reveals neither the length nor a common prefix. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
