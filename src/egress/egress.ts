/**
 * All outbound connections. Upstreams get a `fetch` for their own origin, programs get what the network policies allow.
 * Both pass the same checks, and no other room connects to other machines.
 */

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import { GloveboxError, defined } from "../domain/index.ts";
import type { NetworkPolicy } from "../domain/index.ts";

import { parseOrigin, parseUrl } from "./check-url.ts";
import { decodeBody } from "./http/decode-body.ts";
import { checkForGuest, explainFailure, fetchForGuest } from "./fetch-for-guest.ts";
import type { GuestAnswer, GuestLimits, GuestRequest, UnsentRequest } from "./fetch-for-guest.ts";
import { follow } from "./follow.ts";
import type { OutgoingRequest, Transport } from "./follow.ts";
import { checkHeaders } from "./http/headers.ts";
import { createNetwork } from "./network.ts";
import type { Network } from "./network.ts";
import { createTunnels } from "./connect/open-tunnel.ts";
import type { ProxyAccount } from "./connect/open-tunnel.ts";
import { PinnedAgent } from "./connect/pinned-agent.ts";
import type { ConnectionPowers } from "./connect/pinned-agent.ts";
import { openServerProxy } from "./server-proxy.ts";
import type { ServerProxy, ServerProxyOptions } from "./server-proxy.ts";
import { admitOwn } from "./reach.ts";
import type { RequestScope } from "./reach.ts";
import { resolveHost } from "./connect/resolve-host.ts";
import type { CheckedTarget } from "./connect/resolve-host.ts";

/** The part of `fetch` that upstream clients use. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchLimits {
  /** Limit for one response body, after decompression. */
  readonly maxBytes: number;
  /**
   * True for an origin that the operator configured, which may be in a private network. Must be false for an origin
   * that a document or a server named.
   */
  readonly mayBePrivate?: boolean;
  /**
   * The upstream's own policies. Each must allow every step, including the first. With them a redirect may lead to
   * another origin, without credentials.
   */
  readonly policies?: readonly NetworkPolicy[];
}

export interface EgressOptions {
  /** Default: the machine's own. */
  readonly network?: Network;
  /** An HTTP proxy, as `http://host:port`, for everything that is not in a private network. */
  readonly proxy?: string;
  /** The operator's account at the proxy. Called at first use, and again when the proxy refused it. */
  readonly proxyLogin?: () => Promise<ProxyAccount>;
  /** Applies to every request in addition to all other policies. */
  readonly ceiling?: NetworkPolicy;
}

export interface ProxyOptions extends Omit<ServerProxyOptions, "scope"> {
  readonly policies: readonly NetworkPolicy[];
}

/** Disposing ends every request in progress and refuses new ones. */
export interface Egress extends AsyncDisposable {
  /** A `fetch` for one origin, which is checked here, at each request and at each redirect. */
  fetchFrom(origin: string, limits: FetchLimits): FetchLike;
  /** A `fetch` for the operator's own code: to hosts that every policy allows, and to none without a policy. */
  fetchUnder(policies: readonly NetworkPolicy[], limits: Pick<FetchLimits, "maxBytes">): FetchLike;
  /** One request of a program. Every policy must allow it, so the strictest decides. */
  fetchFor(policies: readonly NetworkPolicy[], request: GuestRequest, limits: GuestLimits): Promise<GuestAnswer>;
  /** A proxy for one confined server, to hosts that every policy allows. */
  openProxy(options: ProxyOptions): ServerProxy;
  /** Throws what `fetchFor` would reject with, as far as names decide. Sends nothing and resolves no address. */
  checkFor(policies: readonly NetworkPolicy[], request: UnsentRequest): void;
}

/** Opens no connection by itself. */
export function openEgress({ network = createNetwork(), proxy, proxyLogin, ceiling }: EgressOptions = {}): Egress {
  const closing = new AbortController();
  const plain: ConnectionPowers = { network, closing: closing.signal };
  const via =
    proxy === undefined ? undefined : { resolve: toProxy(proxy, plain), openTunnel: createTunnels(proxyLogin) };
  const transport: Transport = { agent: new PinnedAgent({ ...plain, ...defined({ proxy: via }) }), network };
  const within = (signal?: AbortSignal | null): AbortSignal =>
    signal ? AbortSignal.any([closing.signal, signal]) : closing.signal;
  const under = defined({ ceiling });
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
    openProxy: ({ policies, ...options }) =>
      openServerProxy(
        { ...options, scope: { kind: "policies", policies, ...under } },
        { ...plain, ...defined({ proxy: via }) },
      ),
    checkFor: (policies, request) => checkForGuest({ kind: "policies", policies, ...under }, request),
    async [Symbol.asyncDispose]() {
      closing.abort(new GloveboxError("EGRESS_DENIED", "Glovebox is shutting down", { hint: "Start it again" }));
      transport.agent.destroy();
    },
  };
}

/** The operator configured the proxy, so it may be in a private network, where proxies usually are. */
function toProxy(
  proxy: string,
  { network, closing }: Pick<ConnectionPowers, "network" | "closing">,
): () => Promise<CheckedTarget> {
  const url = new URL(parseOrigin(proxy));
  const admission = { mayBePrivate: true, remedy: "Check egress.proxy" };
  return () => resolveHost(url, admission, { network, lane: "upstream", signal: closing });
}

/** The platform's own parsing of `init`, which also gives a form its boundary. */
async function toOutgoing(url: URL, { signal: _, ...init }: RequestInit): Promise<OutgoingRequest> {
  const request = new Request(url, init);
  const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
  return { url, method: request.method, headers: checkHeaders(request.headers), body };
}

const BODILESS: readonly (number | undefined)[] = [204, 205, 304];

function toResponse(response: IncomingMessage, method: string, maxBytes: number): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", headersDistinct } = response;
  // As received; repeated ones are joined as the standard says.
  const pairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const head = { status, statusText, headers: new Headers(pairs) };
  if (BODILESS.includes(status) || method === "HEAD") {
    response.resume();
    return new Response(null, head);
  }
  const body: ReadableStream<Uint8Array> = Readable.toWeb(decodeBody(response, maxBytes));
  return new Response(body, head);
}
