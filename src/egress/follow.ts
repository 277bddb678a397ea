/** Sends a request over connections to checked targets and follows redirects, checking every step. */

import { request as send } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";

import { GloveboxError, defined } from "../domain/index.ts";

import { denied, parseUrl } from "./check-url.ts";
import { toTargetKey } from "./connect/pinned-agent.ts";
import type { PinnedAgent } from "./connect/pinned-agent.ts";
import { resolveHost } from "./connect/resolve-host.ts";
import type { CheckedTarget } from "./connect/resolve-host.ts";
import { ACCEPTED_ENCODINGS } from "./http/decode-body.ts";
import { toNextHeaders } from "./http/headers.ts";
import type { Network } from "./network.ts";
import { admit } from "./reach.ts";
import type { RequestScope } from "./reach.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308];
const ADJUST = "Use the address that it redirects to";
const MAX_RESPONSE_HEADER_BYTES = 64 * 1024;
/** Informational responses; an honest server sends one or two (RFC 9110 §15.2). */
const MAX_INFORMATIONAL = 16;
/** Far more than any honest server sends. */
const MAX_HEADERS = 1000;
const USER_AGENT = "glovebox";

/** A request as it is sent. The body is complete, so that its length is known and it can be sent again. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
  /** Called when there is a connection to write to. After that, a lost answer leaves the effect unknown. */
  readonly onSent?: () => void;
  /** Called with the canonical URL of each step once it is allowed, before anything is sent. Throwing ends the request. */
  readonly onStep?: (step: { readonly url: string; readonly method: string; readonly redirects: number }) => void;
  readonly lender?: StepLender;
}

/** The parts of a step that a secret may be in, with its target. */
export type RequestStep = Pick<OutgoingRequest, "url" | "headers" | "body">;

/** Fills in secrets that only the host of a step may receive. Called at every step; the result is not kept. */
export interface StepLender {
  /** Rejects a step that must not be tried. Called before its host is admitted or resolved. */
  readonly check: (step: RequestStep) => Promise<void>;
  /** Returns the step as it is sent. Called after the step was admitted and its addresses were checked. */
  readonly fill: (step: RequestStep) => Promise<RequestStep>;
}

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

/**
 * Rejects with the signal's reason when it fires; after that, the response ends with it. Rejects with
 * `UPSTREAM_RESULT_INVALID` if the head is ambiguous or invalid.
 */
async function exchange(
  agent: PinnedAgent,
  target: CheckedTarget,
  outgoing: OutgoingRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const key = toTargetKey(target);
  const first = start(agent, key, outgoing);
  const response = await answerOf(first, signal).catch((thrown: unknown) => {
    // A reused connection was closed while we wrote. A request without effects is sent once more, to the same addresses.
    const isRepeatable = isRead(outgoing.method) && outgoing.body === undefined;
    if (signal.aborted || !first.reusedSocket || !isLost(thrown) || !isRepeatable) throw thrown;
    return answerOf(start(agent, key, outgoing), signal);
  });
  checkHead(response);
  return response;
}

function start(
  agent: PinnedAgent,
  key: string,
  { url, method, headers, body, onSent }: OutgoingRequest,
): ClientRequest {
  const request = send({
    agent,
    host: key,
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...Object.fromEntries(headers),
      host: url.host,
      "accept-encoding": ACCEPTED_ENCODINGS,
      "user-agent": headers.get("user-agent") ?? USER_AGENT,
      accept: headers.get("accept") ?? "*/*",
      ...defined({ "content-length": body && String(body.byteLength) }),
    },
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    insecureHTTPParser: false,
  });
  request.maxHeadersCount = 0; // their size is limited; a limit on their number would silently drop the last ones
  if (onSent) request.once("socket", onSent);
  request.end(body);
  return request;
}

function answerOf(request: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  let response: IncomingMessage | undefined;
  const stop = (): void => {
    answered.reject(signal.reason);
    response?.destroy(signal.reason);
    request.destroy();
  };
  let hints = 0;
  request.on("information", () => {
    hints += 1;
    if (hints <= MAX_INFORMATIONAL) return;
    // A flood of them would keep this thread busy.
    answered.reject(Object.assign(new Error("Too many informational responses"), { code: "EPROTO" }));
    request.destroy();
  });
  request.once("response", (message: IncomingMessage) => {
    response = message;
    answered.resolve(message);
  });
  request.on("error", (error) => answered.reject(error));
  request.once("close", () => {
    signal.removeEventListener("abort", stop);
    if (response) return;
    answered.reject(Object.assign(new Error("The connection was closed"), { code: "ECONNRESET" }));
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return answered.promise;
}

/** Ends a response with an ambiguous or invalid head before it is used. */
function checkHead(response: IncomingMessage): void {
  const problem = findProblem(response);
  if (problem === undefined) return;
  response.on("error", () => undefined);
  response.destroy();
  throw new GloveboxError("UPSTREAM_RESULT_INVALID", `The response ${problem}`, {
    hint: "Report it to the server's operator",
  });
}

function findProblem({ statusCode = 0, headers, headersDistinct, rawHeaders }: IncomingMessage): string | undefined {
  if (statusCode < 200 || statusCode > 599) return "has an invalid HTTP status";
  if (rawHeaders.length / 2 > MAX_HEADERS) return `has more than ${MAX_HEADERS} headers`;
  // Another coding was never requested (RFC 9112 §7.4). If it leaves the end open, two readers find two ends.
  const framing = headers["transfer-encoding"];
  if (framing !== undefined && framing.toLowerCase() !== "chunked")
    return "uses a transfer encoding that was not requested";
  if ((headersDistinct["location"]?.length ?? 0) > 1) return "has several Location headers";
  return undefined;
}

/** True for a method that only asks for something. */
export function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function isLost(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && (thrown.code === "ECONNRESET" || thrown.code === "EPIPE");
}
