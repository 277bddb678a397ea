/** Sends a request and follows redirects, checking every step. */

import type { IncomingMessage } from "node:http";

import { denied, parseUrl } from "./check-url.ts";
import { exchange, isRead } from "./exchange.ts";
import type { OutgoingRequest } from "./exchange.ts";
import { toNextHeaders } from "./http/headers.ts";
import type { PinnedAgent } from "./connect/pinned-agent.ts";
import type { Network } from "./network.ts";
import { admit } from "./reach.ts";
import type { RequestScope } from "./reach.ts";
import { resolveHost } from "./connect/resolve-host.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308];
const ADJUST = "Use the address that it redirects to";

/** Shared by all requests of one gateway. */
export interface Transport {
  readonly agent: PinnedAgent;
  readonly network: Network;
}

/**
 * Sends nothing before `scope` and every address of the host have been checked for the same step. Returns the last
 * response with its body unread.
 */
export async function follow(
  { agent, network }: Transport,
  scope: RequestScope,
  start: OutgoingRequest,
  signal: AbortSignal,
): Promise<{ readonly response: IncomingMessage; readonly url: URL; readonly redirects: number }> {
  let outgoing = start;
  const lane = scope.kind === "origin" ? "upstream" : "program";
  for (let redirects = 0; ; redirects += 1) {
    await outgoing.lender?.check(outgoing);
    const admission = admit(scope, outgoing.url);
    outgoing.onStep?.({ url: outgoing.url.href, method: outgoing.method, redirects });
    const target = await resolveHost(outgoing.url, admission, { network, lane, signal });
    signal.throwIfAborted();
    const filled = await outgoing.lender?.fill(outgoing);
    const response = await exchange(agent, target, { ...outgoing, ...filled }, signal);
    const { location } = response.headers;
    if (!REDIRECTS.includes(response.statusCode) || location === undefined) {
      return { response, url: outgoing.url, redirects };
    }
    discard(response);
    if (redirects === MAX_REDIRECTS)
      throw denied(`${start.url.origin} redirects more than ${MAX_REDIRECTS} times`, ADJUST);
    outgoing = toNext(outgoing, parseUrl(location, outgoing.url), response.statusCode ?? 0, scope);
  }
}

/** Reads a short rest, so that the connection can be reused; closes the connection for a long one. */
function discard(response: IncomingMessage): void {
  response.on("error", () => undefined);
  if (Number(response.headers["content-length"] ?? Number.NaN) <= 4096) response.resume();
  else response.destroy();
}

function toNext(from: OutgoingRequest, url: URL, status: number, scope: RequestScope): OutgoingRequest {
  if (from.url.protocol === "https:" && url.protocol === "http:") {
    throw denied(`${from.url.origin} redirects from https to http`, ADJUST);
  }
  const isSameOrigin = url.origin === from.url.origin;
  const keepsMethod = status === 307 || status === 308 || isRead(from.method);
  if (!keepsMethod && scope.kind === "origin") {
    throw denied(`A redirect with status ${status} would change the request`, ADJUST);
  }
  if (keepsMethod && from.body && !isSameOrigin) {
    throw denied(`${from.url.origin} redirects the body of this request to ${url.origin}`, ADJUST);
  }
  const headers = toNextHeaders(from.headers, { isSameOrigin, keepsBody: keepsMethod });
  return keepsMethod ? { ...from, url, headers } : { ...from, url, headers, method: "GET", body: undefined };
}
