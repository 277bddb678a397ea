/**
 * The way out for discovery, registration and tokens. The upstream names the addresses, so they count as a stranger's:
 * https and public, unless the operator wrote them, as the upstream's own origin or as a grant.
 */

import { GloveboxError, toPlace } from "../../domain/index.ts";
import type { HostPort } from "../../domain/index.ts";
import type { Egress, FetchLike } from "../../egress/index.ts";

const MAX_BYTES = 1024 * 1024;
const REQUEST_MS = 15_000;

export interface LoginReach {
  readonly egress: Egress;
  /** The upstream's own address. */
  readonly url: string;
  /** Hosts that may lie in a private network, and be spoken to without encryption. */
  readonly grants: readonly HostPort[];
}

/** Every request has its own check of origin and address; redirects stay within the origin. */
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

/** Also for the page that a person is sent to: a browser must not be handed `file:` or `javascript:`. */
export function checkLoginUrl(text: string, reach: Pick<LoginReach, "url" | "grants">): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new GloveboxError("EGRESS_DENIED", "The login names an address that is no plain http or https URL", {
      hint: "Report it to whoever runs the server",
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
    hint: `If this server may be trusted with logins, add "${grant}" to oauth.grants of the upstream`,
  });
}
