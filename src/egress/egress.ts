/**
 * The way out. Upstreams get a fetch that can reach their own origin only, programs get what the network policies
 * allow; both leave through the same checks, and nobody else opens a connection to a stranger.
 */

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import { GloveboxError } from "../domain/index.ts";
import type { NetworkPolicy } from "../domain/index.ts";

import { parseOrigin, parseUrl } from "./check-url.ts";
import { capBody, decodeBody } from "./http/decode-body.ts";
import type { OutgoingRequest } from "./exchange.ts";
import { checkForGuest, explainFailure, fetchForGuest } from "./fetch-for-guest.ts";
import type { GuestAnswer, GuestLimits, GuestRequest, UnsentRequest } from "./fetch-for-guest.ts";
import { follow } from "./follow.ts";
import type { Transport } from "./follow.ts";
import { checkHeaders } from "./http/headers.ts";
import { createNetwork } from "./network.ts";
import type { Network } from "./network.ts";
import type { ConnectionPowers } from "./connect/open-connection.ts";
import { createProxyCredentials } from "./connect/open-tunnel.ts";
import type { ProxyAccount } from "./connect/open-tunnel.ts";
import { PinnedAgent } from "./connect/pinned-agent.ts";
import { admitOwn } from "./reach.ts";
import type { RequestScope } from "./reach.ts";
import { resolveHost } from "./connect/resolve-host.ts";
import type { CheckedTarget } from "./connect/resolve-host.ts";

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
  /**
   * Policies of the upstream's own. Each has to allow every step, the first one included; with them a redirect may lead
   * to another origin, to which no credential goes along.
   */
  readonly policies?: readonly NetworkPolicy[];
}

export interface EgressOptions {
  /** Left out, the machine's own. */
  readonly network?: Network;
  /** An http proxy, as `http://host:port`, for everything that is not in a private network. */
  readonly proxy?: string;
  /** Who the operator is to the proxy; asked for at first use, and again when the proxy did not take it. */
  readonly proxyLogin?: () => Promise<ProxyAccount>;
  /** Holds for every request, whoever sends it and whatever else allows it. */
  readonly ceiling?: NetworkPolicy;
}

/** Disposing it ends every request under way and refuses new ones. */
export interface Egress extends AsyncDisposable {
  /** A fetch for one origin, checked here once and again at each request and each redirect. */
  fetchFrom(origin: string, limits: FetchLimits): FetchLike;
  /** A fetch for the operator's own code: to whatever every policy allows, and nowhere without one. */
  fetchUnder(policies: readonly NetworkPolicy[], limits: Pick<FetchLimits, "maxBytes">): FetchLike;
  /** One request of a program. Every policy must allow it, so the strictest decides. */
  fetchFor(policies: readonly NetworkPolicy[], request: GuestRequest, limits: GuestLimits): Promise<GuestAnswer>;
  /** Throws what `fetchFor` would be refused with by name. Nothing is sent; addresses are not looked up. */
  checkFor(policies: readonly NetworkPolicy[], request: UnsentRequest): void;
}

/** Makes the way out. It opens no connection by itself. */
export function openEgress({ network = createNetwork(), proxy, proxyLogin, ceiling }: EgressOptions = {}): Egress {
  const closing = new AbortController();
  const plain: ConnectionPowers = { network, closing: closing.signal };
  const via = proxy !== undefined && {
    proxy: { resolve: toProxy(proxy, plain), credentials: createProxyCredentials(proxyLogin) },
  };
  const powers: ConnectionPowers = { ...plain, ...via };
  const transport: Transport = { agent: new PinnedAgent(powers), powers };
  const within = (signal?: AbortSignal | null): AbortSignal =>
    signal ? AbortSignal.any([closing.signal, signal]) : closing.signal;
  const under = ceiling && { ceiling };
  const createFetch =
    (scope: RequestScope, maxBytes: number): FetchLike =>
    async (rawUrl, init = {}) => {
      const url = parseUrl(rawUrl);
      if (scope.kind === "origin") admitOwn(scope.origin, url);
      const outgoing = await toOutgoing(url, init);
      const { response } = await follow(transport, scope, outgoing, within(init.signal));
      return toResponse(response, outgoing.method, maxBytes);
    };
  return {
    fetchFrom: (rawOrigin, { maxBytes, mayBePrivate = false, policies = [] }) =>
      createFetch({ kind: "origin", origin: parseOrigin(rawOrigin), mayBePrivate, policies, ...under }, maxBytes),
    fetchUnder: (policies, { maxBytes }) => {
      const fetch = createFetch({ kind: "policies", policies, ...under }, maxBytes);
      return (url, init = {}) =>
        fetch(url, init).catch((thrown: unknown) => {
          throw init.signal?.aborted === true ? init.signal.reason : explainFailure(thrown, parseUrl(url));
        });
    },
    fetchFor: (policies, request, limits) =>
      fetchForGuest(
        transport,
        { kind: "policies", policies, ...under },
        { ...request, signal: within(request.signal) },
        limits,
      ),
    checkFor: (policies, request) => checkForGuest({ kind: "policies", policies, ...under }, request),
    async [Symbol.asyncDispose]() {
      closing.abort(new GloveboxError("EGRESS_DENIED", "Glovebox is shutting down", { hint: "Start it again" }));
      transport.agent.destroy();
    },
  };
}

/** The operator wrote it, so it may lie in a private network, where proxies usually are. */
function toProxy(
  proxy: string,
  { network, closing }: Pick<ConnectionPowers, "network" | "closing">,
): () => Promise<CheckedTarget> {
  const url = new URL(parseOrigin(proxy));
  const admission = { mayBePrivate: true, remedy: "Check egress.proxy" };
  return () => resolveHost(url, admission, { network, lane: "upstream", signal: closing });
}

/** The platform's own reading of `init`, which also gives a form its boundary. */
async function toOutgoing(url: URL, { signal: _, ...init }: RequestInit): Promise<OutgoingRequest> {
  const request = new Request(url, init);
  const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
  return { url, method: request.method, headers: checkHeaders(request.headers), body };
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
