/**
 * Sends the requests of discovery, registration and tokens. The upstream names the addresses, so they are untrusted:
 * https and public, unless the operator configured them, as the upstream's own origin or as a grant.
 */

import { GloveboxError, toPlace } from "../../domain/index.ts";
import type { HostPort } from "../../domain/index.ts";
import type { Egress, FetchLike } from "../../egress/index.ts";

const MAX_BYTES = 1024 * 1024;
const REQUEST_MS = 15_000;

export interface LoginReach {
  readonly egress: Egress;
  /** The URL of the upstream. */
  readonly url: string;
  /** Hosts that may be in a private network and be used without encryption. */
  readonly grants: readonly HostPort[];
}

/** Checks origin and address of every request; redirects must stay within the origin. */
export function createLoginFetch(reach: LoginReach): FetchLike {
  return async (input, init) => {
    const url = checkLoginUrl(String(input), reach);
    const fetch = reach.egress.fetchFrom(url.origin, { maxBytes: MAX_BYTES, mayBePrivate: isTrusted(url, reach) });
    const deadline = AbortSignal.timeout(REQUEST_MS);
    const signal = init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    return fetch(url, { ...init, signal }).catch((thrown: unknown) => {
      throw thrown instanceof GloveboxError && thrown.code === "EGRESS_DENIED" ? denied(thrown.message, url) : thrown;
    });
  };
}

/** Also checks the page that a person is sent to: a browser must not be given `file:` or `javascript:`. */
export function checkLoginUrl(text: string, reach: Pick<LoginReach, "url" | "grants">): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new GloveboxError("EGRESS_DENIED", "The login names an address that is not a plain http or https URL", {
      hint: "Report it to the server's operator",
    });
  }
  if (url.protocol === "http:" && !isTrusted(url, reach)) throw denied(`${url.origin} is not encrypted`, url);
  return url;
}

function isTrusted(url: URL, { url: own, grants }: Pick<LoginReach, "url" | "grants">): boolean {
  const { host, port } = toPlace(url);
  return url.origin === URL.parse(own)?.origin || grants.some((grant) => grant.host === host && grant.port === port);
}

function denied(message: string, url: URL): GloveboxError {
  const { host, port } = toPlace(url);
  const grant = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new GloveboxError("EGRESS_DENIED", `The login was not continued: ${message}`, {
    hint: `If you trust this server with logins, add "${grant}" to oauth.grants of the upstream`,
  });
}
