/** `fetch` of the sandbox: one call of the bridge. The host decides whether it leaves, and what is returned. */

import { RealPromise, defineOwn, each, isPrototypeOf, isView, promiseThen, toDomString } from "../intrinsics.ts";
import { AbortSignal } from "./abort.ts";
import { btoa } from "./base64.ts";
import { bytesOf, isBuffer, typedArrayLength } from "./buffer-source.ts";
import { Headers, pairsOf } from "./headers.ts";
import { Response } from "./response.ts";
import type { ResponseMessage } from "./response.ts";
import { TextBuilder } from "./text-builder.ts";
import { URLSearchParams } from "./url-search-params.ts";

/** The supported options of the standard. */
interface FetchInit {
  readonly method?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: unknown;
  readonly redirect?: unknown;
}

const SIGNAL = AbortSignal.prototype;
const PARAMS = URLSearchParams.prototype;

/** `carry` takes a request of plain data to the host. An aborted request rejects at once; the host's limit ends it there. */
export function createFetch(
  carry: (request: object) => Promise<unknown>,
): (url: unknown, init?: FetchInit) => Promise<Response> {
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
  const sent = new Headers(headers);
  const { text, base64, type } = toRequestBody(body);
  if (type !== undefined && !sent.has("content-type")) sent.set("content-type", type);
  const pairs: [string, string][] = [];
  each(pairsOf(sent), ({ name, value }) => defineOwn(pairs, pairs.length, [name, value], true));
  return {
    url: toDomString(url),
    method: method === undefined ? "GET" : toDomString(method),
    headers: pairs,
    text,
    base64,
  };
}

interface RequestBody {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  /** The media type that the standard adds. */
  readonly type?: string | undefined;
}

const NO_BODY: RequestBody = { text: undefined, base64: undefined, type: undefined };

/** An object is an error instead of "[object Object]". */
function toRequestBody(body: unknown): RequestBody {
  if (body === undefined || body === null) return NO_BODY;
  if (isView(body) || isBuffer(body)) return { ...NO_BODY, base64: toBase64(bytesOf(body)) };
  if (typeof body !== "object") return { ...NO_BODY, text: toDomString(body), type: "text/plain;charset=UTF-8" };
  if (isPrototypeOf(PARAMS, body)) {
    return { ...NO_BODY, text: toDomString(body), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  throw new TypeError("fetch takes a body of text, bytes or URLSearchParams; use JSON.stringify for an object");
}

function toBase64(bytes: Uint8Array): string {
  const binary = new TextBuilder();
  const length = typedArrayLength(bytes) ?? 0;
  for (let index = 0; index < length; index += 1) binary.add(bytes[index] ?? 0);
  return btoa(binary.finish());
}

function toSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (isPrototypeOf(SIGNAL, signal)) return signal as AbortSignal;
  throw new TypeError("signal must be an AbortSignal");
}

function unlessAborted(carried: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new RealPromise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    void promiseThen(carried, resolve, reject);
  });
}
