/** One request of a program, from checked arguments to a complete answer in memory. */

import type { IncomingMessage } from "node:http";

import { GloveboxError, defined } from "../domain/index.ts";

import { denied, parseUrl } from "./check-url.ts";
import { decodeBody } from "./http/decode-body.ts";
import { follow, isRead } from "./follow.ts";
import type { OutgoingRequest, Transport } from "./follow.ts";
import { parseGuestHeaders } from "./http/headers.ts";
import { admit } from "./reach.ts";
import type { RequestScope } from "./reach.ts";

/** TRACE and CONNECT do not request a resource. */
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** `lender` is for a request that may contain tokens of secrets. */
export interface GuestRequest extends Pick<OutgoingRequest, "method" | "body" | "onSent" | "onStep" | "lender"> {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly signal: AbortSignal;
}

export interface GuestLimits {
  /** Of the body after decompression. */
  readonly maxBytes: number;
  /** For the whole request, redirects and body included. */
  readonly totalMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
}

export interface GuestAnswer {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly redirected: boolean;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** Refusals are `EGRESS_DENIED`; a host that does not answer is `UPSTREAM_UNREACHABLE` or `UPSTREAM_TIMEOUT`. */
export async function fetchForGuest(
  transport: Transport,
  scope: RequestScope,
  request: GuestRequest,
  limits: GuestLimits,
): Promise<GuestAnswer> {
  const parsed = parseRequest(request);
  const { url, method } = parsed;
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(timeout(`${url.hostname} did not answer within ${limits.totalMs} ms`)),
    limits.totalMs,
  );
  const signal = AbortSignal.any([request.signal, late.signal]);
  try {
    const { onSent, onStep, lender } = request;
    const hooks = defined({ onSent, onStep, lender });
    const { response, redirects, url: last } = await follow(transport, scope, { ...parsed, ...hooks }, signal);
    return {
      url: last.href,
      status: response.statusCode ?? 0,
      statusText: response.statusMessage ?? "",
      redirected: redirects > 0,
      headers: toPairs(response),
      body: await readBody(response, method, limits),
    };
  } catch (thrown) {
    throw signal.aborted ? signal.reason : explainFailure(thrown, url);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks everything that needs no network, not even a lookup. */
export function checkForGuest(scope: RequestScope, request: UnsentRequest): void {
  admit(scope, parseRequest(request).url);
}

/** A request that is checked but not sent. */
export type UnsentRequest = Pick<GuestRequest, "url" | "method" | "headers" | "body">;

function parseRequest(request: UnsentRequest): OutgoingRequest {
  const { body } = request;
  const url = parseUrl(request.url);
  const method = request.method.toUpperCase();
  if (!METHODS.includes(method)) throw denied("The method is not allowed", `Use one of ${METHODS.join(", ")}`);
  if (body && isRead(method)) throw denied(`A ${method} request has no body`, "Use POST");
  return { url, method, headers: parseGuestHeaders(request.headers), body };
}

/** Leaving the loop ends the body, the decoder and the connection. */
async function readBody(response: IncomingMessage, method: string, { maxBytes, idleMs }: GuestLimits): Promise<Buffer> {
  if (method === "HEAD") {
    response.resume();
    return Buffer.alloc(0);
  }
  const body = decodeBody(response, maxBytes);
  const timer = setTimeout(() => body.destroy(timeout(`The response stalled for ${idleMs} ms`)), idleMs);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      timer.refresh();
      chunks.push(Buffer.from(chunk));
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
  }
}

/** Headers that framed the message, and cookies, are not given to programs. */
const KEPT_BACK = /^(?:connection|keep-alive|transfer-encoding|content-encoding|content-length|set-cookie2?|proxy-.*)$/;

function toPairs({ headersDistinct }: IncomingMessage): readonly (readonly [string, string])[] {
  return Object.entries(headersDistinct)
    .filter(([name]) => !KEPT_BACK.test(name))
    .map(([name, values = []]) => [name, values.join(", ")]);
}

function timeout(message: string): GloveboxError {
  return new GloveboxError("UPSTREAM_TIMEOUT", message, { hint: "Ask for less, or try again later" });
}

/** The message of a failed connection may contain addresses of this network, so only the system's code is shown. */
export function explainFailure(thrown: unknown, { hostname }: URL): unknown {
  if (thrown instanceof GloveboxError) return thrown;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const shown = /^[A-Z_]{3,40}$/.test(code) ? code : "connection failed";
  return new GloveboxError("UPSTREAM_UNREACHABLE", `${hostname} cannot be reached (${shown})`, {
    cause: thrown,
    hint: "Check the address, or try again later",
  });
}
