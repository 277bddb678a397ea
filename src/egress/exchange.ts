/** One request and the checked head of its response, over a connection to a checked target. Follows no redirect. */

import { request as send } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";

import { GloveboxError, defined } from "../domain/index.ts";

import { ACCEPTED_ENCODINGS } from "./http/decode-body.ts";
import { toTargetKey } from "./connect/pinned-agent.ts";
import type { PinnedAgent } from "./connect/pinned-agent.ts";
import type { CheckedTarget } from "./connect/resolve-host.ts";

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

/**
 * Rejects with the signal's reason when it fires; after that, the response ends with it. Rejects with
 * `UPSTREAM_RESULT_INVALID` if the head is ambiguous or invalid.
 */
export async function exchange(
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
