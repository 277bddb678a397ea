/**
 * Stands in front of every route. A web page that a person happens to visit can make the browser send requests to
 * this machine (DNS rebinding, cross-site requests); it can forge neither `Host` nor `Origin`, so both are checked.
 */

import { GloveboxError } from "../../domain/index.ts";

/** Only requests with a body to `/mcp` need room at all: a program with its input. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The names under which a program on this machine reaches `port`; a browser leaves the default port out. */
export function loopbackHosts(port: number, host = "127.0.0.1"): ReadonlySet<string> {
  const names = [host.includes(":") ? `[${host}]` : host, "127.0.0.1", "localhost", "[::1]"];
  return new Set([...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])]);
}

/** Throws `REQUEST_FORBIDDEN` unless the request is addressed to us and, if a browser sent it, comes from our own page. */
export function checkAddress(headers: Headers, allowedHosts: ReadonlySet<string>): void {
  const host = headers.get("host")?.toLowerCase() ?? "";
  if (!allowedHosts.has(host)) {
    throw new GloveboxError("REQUEST_FORBIDDEN", "The Host header names another machine than this one", {
      hint: `Use the address ${[...allowedHosts][0] ?? "of this machine"}`,
    });
  }
  const origin = headers.get("origin")?.toLowerCase();
  if (origin === undefined || isOwnOrigin(origin, allowedHosts)) return;
  throw new GloveboxError("REQUEST_FORBIDDEN", "Requests of web pages from elsewhere are refused", {
    hint: "Use a program that is not a web page, or the admin page itself",
  });
}

/** Throws `LIMIT_SIZE` for a body that announces more than the cap; one without a length is counted where it is read. */
export function checkBodySize(headers: Headers): void {
  const length = Number(headers.get("content-length") ?? 0);
  if (length <= MAX_BODY_BYTES) return;
  throw new GloveboxError("LIMIT_SIZE", `A request body has at most ${MAX_BODY_BYTES} bytes`, {
    hint: "Send less data; let the program fetch it through a tool",
  });
}

/** Anything but `http://` and an allowed host is foreign, also the `null` of a sandboxed frame. */
function isOwnOrigin(origin: string, allowedHosts: ReadonlySet<string>): boolean {
  const scheme = "http://";
  return origin.startsWith(scheme) && allowedHosts.has(origin.slice(scheme.length));
}
