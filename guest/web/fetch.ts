/** `fetch` of the sandbox: one call of the bridge. The host decides whether it leaves, and what comes back. */

import { AbortSignal } from "./abort.ts";
import { Headers, pairsOf } from "./headers.ts";
import { defineOwn, each, isPrototypeOf, toText, uncurry } from "./intrinsics.ts";
import { toRequestBody } from "./request-body.ts";
import { Response } from "./response.ts";
import type { ResponseMessage } from "./response.ts";

/** Carries a request across and answers with the host's message; the arguments are plain data. */
export type Carry = (request: object) => Promise<unknown>;

/** The part of the standard's options that means something here. */
export interface FetchInit {
  readonly method?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: unknown;
  readonly redirect?: unknown;
}

const SIGNAL = AbortSignal.prototype;
const PromiseCopy = Promise;
const promiseThen = uncurry<Promise<unknown>, [(value: unknown) => void, (reason: unknown) => void], unknown>(
  Promise.prototype.then,
);

/** An aborted request rejects at once; the host ends what is under way by its own time limit. */
export function createFetch(carry: Carry): (url: unknown, init?: FetchInit) => Promise<Response> {
  return async (url, init = {}) => {
    if (url === undefined) throw new TypeError("fetch needs an address");
    const signal = toSignal(init.signal);
    signal?.throwIfAborted();
    const carried = carry(toRequest(url, init));
    const message = signal === undefined ? await carried : await unlessAborted(carried, signal);
    return new Response(message as ResponseMessage);
  };
}

function toRequest(url: unknown, { method, headers, body, redirect }: FetchInit): object {
  if (redirect !== undefined && redirect !== "follow") throw new TypeError('fetch knows redirect: "follow" only');
  const given = new Headers(headers);
  const content = toRequestBody(body);
  if (content?.type !== undefined && !given.has("content-type")) given.set("content-type", content.type);
  const pairs: [string, string][] = [];
  each(pairsOf(given), ({ name, value }) => defineOwn(pairs, pairs.length, [name, value], true));
  return {
    url: toText(url),
    method: method === undefined ? "GET" : toText(method),
    headers: pairs,
    text: content?.text,
    base64: content?.base64,
  };
}

function toSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (typeof signal === "object" && isPrototypeOf(SIGNAL, signal)) return signal as AbortSignal;
  throw new TypeError("signal must be an AbortSignal");
}

function unlessAborted(carried: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new PromiseCopy((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    void promiseThen(carried, resolve, reject);
  });
}
