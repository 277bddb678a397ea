/**
 * Runs before every route. A web page can make the browser send requests to this machine (DNS rebinding, cross-site
 * requests). It can forge neither `Host` nor `Origin`, so both are checked.
 */

import { isIPv4 } from "node:net";

import { GloveboxError } from "../../domain/index.ts";

/** Large enough for a program with its input at `/mcp`. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** The Host headers of clients on this machine for `port`; a browser omits the default port. */
export function loopbackHosts(port: number, host = "127.0.0.1"): ReadonlySet<string> {
  const names = [host.includes(":") ? `[${host}]` : host, "127.0.0.1", "localhost", "[::1]"];
  return new Set([...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])]);
}

/** The addresses of the page, lower case. */
export interface OwnAddresses {
  /** Valid values of the Host header, with the port unless it is the default. */
  readonly hosts: ReadonlySet<string>;
  /** Valid values of the Origin header. */
  readonly origins: ReadonlySet<string>;
}

export interface AddressOptions {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted?: boolean;
  readonly publicUrl?: string | undefined;
  readonly allowedHosts?: readonly string[];
}

/** This machine, the public address, and what the operator allows. */
export function findOwnAddresses(options: AddressOptions): OwnAddresses {
  const { host, port, isEncrypted = false, publicUrl, allowedHosts = [] } = options;
  const own = [...loopbackHosts(port, host)];
  const added = allowedHosts.map((name) => name.toLowerCase());
  const named = publicUrl === undefined ? undefined : new URL(publicUrl);
  const scheme = isEncrypted ? "https" : "http";
  return {
    hosts: new Set([...own, ...added, ...(named ? [named.host] : [])]),
    origins: new Set([
      ...own.map((name) => `${scheme}://${name}`),
      ...added.flatMap((name) => [`http://${name}`, `https://${name}`]),
      ...(named ? [named.origin] : []),
    ]),
  };
}

/** Throws `REQUEST_FORBIDDEN` for another `Host`, and for an `Origin` other than the page. */
export function checkAddress(headers: Headers, { hosts, origins }: OwnAddresses): void {
  const host = headers.get("host")?.toLowerCase() ?? "";
  if (!hosts.has(host)) {
    throw new GloveboxError("REQUEST_FORBIDDEN", "The Host header does not name this machine", {
      hint: `Use the address ${[...hosts][0] ?? "of this machine"}`,
    });
  }
  const origin = headers.get("origin")?.toLowerCase();
  // `null` of a sandboxed frame is foreign, too.
  if (origin === undefined || origins.has(origin)) return;
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
