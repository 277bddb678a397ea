/**
 * Requests to upstreams that the operator configured. Each upstream gets a fetch that can reach its own origin only,
 * so neither a redirect nor a URL that the upstream names can lead anywhere else.
 */

import { GloveboxError } from "../domain/index.ts";

import { capResponse } from "./cap-response.ts";
import { denied, parseOrigin, parseRequestUrl } from "./check-url.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** The part of `fetch` that upstream clients use. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchLimits {
  /** Of one response body, after decompression. */
  readonly maxBytes: number;
}

export interface EgressOptions {
  /** The platform's own fetch. Handed in once, by the composition root; no other room gets hold of it. */
  readonly fetch: FetchLike;
}

/** Disposing it ends every request under way and refuses new ones. */
export interface Egress extends AsyncDisposable {
  /** A fetch for one origin, checked here once and again at each request and each redirect. */
  fetchFrom(origin: string, limits: FetchLimits): FetchLike;
}

/** Makes the way out. It opens no connection by itself. */
export function openEgress(options: EgressOptions): Egress {
  const closing = new AbortController();
  return {
    fetchFrom(rawOrigin, limits) {
      const origin = parseOrigin(rawOrigin);
      return async (url, init = {}) => {
        const signal = init.signal ? AbortSignal.any([closing.signal, init.signal]) : closing.signal;
        const response = await follow(options.fetch, parseRequestUrl(url, origin), { ...init, signal });
        return capResponse(response, limits.maxBytes);
      };
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new GloveboxError("EGRESS_DENIED", "Glovebox is shutting down", { hint: "Start it again" }));
    },
  };
}

/** Redirects are never left to the platform: each target passes the same check as the first address. */
async function follow(fetch: FetchLike, start: URL, init: RequestInit): Promise<Response> {
  let url = start;
  for (let hops = 0; ; hops += 1) {
    const response = await fetch(url, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    if (!REDIRECTS.includes(response.status) || location === null) return response;
    await response.body?.cancel();
    if (hops === MAX_REDIRECTS) throw denied(`${url.origin} redirects more than ${MAX_REDIRECTS} times`, ADJUST);
    checkRepeatable(response.status, init);
    url = parseRequestUrl(URL.parse(location, url.href) ?? location, url.origin);
  }
}

const ADJUST = "Configure the upstream with the address that it redirects to";

/** A call must arrive as it was sent: a redirect that would turn it into a GET, or lose its body, ends the request. */
function checkRepeatable(status: number, init: RequestInit): void {
  const method = (init.method ?? "GET").toUpperCase();
  if (method === "GET" || method === "HEAD") return;
  const keepsMethod = status === 307 || status === 308;
  const keepsBody = init.body === undefined || init.body === null || typeof init.body === "string";
  if (!keepsMethod || !keepsBody) throw denied(`A redirect with status ${status} would change the request`, ADJUST);
}
