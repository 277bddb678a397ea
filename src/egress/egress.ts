/**
 * The way out. Upstreams get a fetch that can reach their own origin only, programs get what the network policies
 * allow; both leave through the same checks, and nobody else opens a connection to a stranger.
 */

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import { GloveboxError } from "../domain/index.ts";
import type { NetworkPolicy } from "../domain/index.ts";

import { parseOrigin, parseUrl } from "./check-url.ts";
import { capBody, decodeBody } from "./decode-body.ts";
import type { Outgoing } from "./exchange.ts";
import { checkForGuest, fetchForGuest } from "./fetch-for-guest.ts";
import type { GuestAnswer, GuestLimits, GuestRequest, Unsent } from "./fetch-for-guest.ts";
import { follow } from "./follow.ts";
import type { Road } from "./follow.ts";
import { createNetwork } from "./network.ts";
import type { Network } from "./network.ts";
import type { Ways } from "./open-connection.ts";
import { PinnedAgent } from "./pinned-agent.ts";
import type { Reach } from "./reach.ts";
import { resolveHost } from "./resolve-host.ts";

/** The part of `fetch` that upstream clients use. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchLimits {
  /** Of one response body, after decompression. */
  readonly maxBytes: number;
  /**
   * True for an origin that the operator wrote: it may then lie in a private network. An origin that anybody else
   * named, a document or a server, must not have it.
   */
  readonly mayBePrivate?: boolean;
}

export interface EgressOptions {
  /** Left out, the machine's own. */
  readonly network?: Network;
  /** An http proxy, as `http://host:port`, for everything that is not in a private network. */
  readonly proxy?: string;
}

/** Disposing it ends every request under way and refuses new ones. */
export interface Egress extends AsyncDisposable {
  /** A fetch for one origin, checked here once and again at each request and each redirect. */
  fetchFrom(origin: string, limits: FetchLimits): FetchLike;
  /** One request of a program. Every policy must allow it, so the strictest decides. */
  fetchFor(policies: readonly NetworkPolicy[], request: GuestRequest, limits: GuestLimits): Promise<GuestAnswer>;
  /** Throws what `fetchFor` would be refused with by name. Nothing is sent; addresses are not looked up. */
  checkFor(policies: readonly NetworkPolicy[], request: Unsent): void;
}

/** Makes the way out. It opens no connection by itself. */
export function openEgress({ network = createNetwork(), proxy }: EgressOptions = {}): Egress {
  const closing = new AbortController();
  const ways = { network, closing: closing.signal, ...(proxy !== undefined && { proxy: toProxy(proxy, network) }) };
  const road: Road = { agent: new PinnedAgent(ways), ways };
  const within = (signal?: AbortSignal | null): AbortSignal =>
    signal ? AbortSignal.any([closing.signal, signal]) : closing.signal;
  return {
    fetchFrom(rawOrigin, { maxBytes, mayBePrivate = false }) {
      const reach: Reach = { kind: "origin", origin: parseOrigin(rawOrigin), mayBePrivate };
      return async (url, init = {}) => {
        const signal = within(init.signal);
        const outgoing = await toOutgoing(parseUrl(url), init);
        const { response } = await follow(road, reach, outgoing, signal);
        return toResponse(response, outgoing.method, maxBytes);
      };
    },
    fetchFor: (policies, request, limits) =>
      fetchForGuest(road, policies, { ...request, signal: within(request.signal) }, limits),
    checkFor: (policies, request) => checkForGuest(policies, request),
    async [Symbol.asyncDispose]() {
      closing.abort(new GloveboxError("EGRESS_DENIED", "Glovebox is shutting down", { hint: "Start it again" }));
      road.agent.destroy();
    },
  };
}

/** The operator wrote it, so it may lie in a private network, where proxies usually are. */
function toProxy(proxy: string, network: Network): NonNullable<Ways["proxy"]> {
  const url = new URL(parseOrigin(proxy));
  return () => resolveHost(url, { mayBePrivate: true, remedy: "Check egress.proxy" }, network);
}

/** The platform's own reading of `init`, which also gives a form its boundary. */
async function toOutgoing(url: URL, { signal: _, ...init }: RequestInit): Promise<Outgoing> {
  const request = new Request(url, init);
  const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
  return { url, method: request.method, headers: request.headers, body };
}

const BODILESS: readonly (number | undefined)[] = [204, 205, 304];

function toResponse(response: IncomingMessage, method: string, maxBytes: number): Response {
  const { statusCode: status = 0, statusMessage: statusText = "" } = response;
  const headers = toHeaders(response);
  if (BODILESS.includes(status) || method === "HEAD") {
    response.resume();
    return new Response(null, { status, statusText, headers });
  }
  const body: ReadableStream<Uint8Array> = Readable.toWeb(capBody(decodeBody(response, maxBytes), maxBytes));
  return new Response(body, { status, statusText, headers });
}

/** As they came; repeated ones are joined as the standard says. */
function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const pairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Headers(pairs);
}
