/**
 * The HTTP+SSE transport of 2024-11-05: one stream carries every answer, and each message is a separate request. The
 * SDK would reopen a lost stream by itself, which is a new session without a handshake. So the end of the stream ends
 * the connection here.
 */

import { SSEClientTransport, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import { GloveboxError } from "../../../domain/index.ts";
import type { FetchLike } from "../../../egress/index.ts";

import type { UpstreamFailure } from "../../upstream-error.ts";
import type { HttpTransportOptions } from "./http-transport.ts";
import type { ServerTransport } from "./server-transport.ts";

const STREAM_LOST: UpstreamFailure = {
  code: "UPSTREAM_UNREACHABLE",
  cause: "the event stream ended",
  hint: "Call again to reconnect",
};

/** Sends nothing before `start()`, which resolves when the server has named the address for messages. */
export class SseTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;

  readonly #inner: SSEClientTransport;
  #hasStream = false;
  #isClosed = false;
  /** Why the stream could not be opened: the event source hides it behind another error. */
  #startError: unknown;
  #failure: UpstreamFailure | undefined;

  constructor({ url, fetch, headers }: HttpTransportOptions) {
    this.#inner = new SSEClientTransport(url, { fetch: this.#watch(fetch), requestInit: { headers } });
    Object.assign(this.#inner, {
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: (message: JSONRPCMessage) => this.onmessage?.(message),
    });
  }

  failure(): UpstreamFailure | undefined {
    return this.#failure;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    try {
      await this.#inner.start();
    } catch (thrown) {
      await this.close();
      throw this.#startError ?? thrown;
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#inner.close();
    this.onclose?.();
  }

  #watch(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      if ((init?.method ?? "GET").toUpperCase() !== "GET") return checkStatus(await fetch(url, init));
      if (this.#hasStream) throw new Error("The stream is opened only once");
      this.#hasStream = true;
      try {
        return this.#watchStream(checkStatus(await fetch(url, init)));
      } catch (thrown) {
        this.#startError = thrown;
        throw thrown;
      }
    };
  }

  #watchStream(response: Response): Response {
    const { body, headers, status, statusText } = response;
    const watched = new TransformStream<Uint8Array, Uint8Array>();
    // Rejects if the stream breaks, an event is too large or the reader is closed.
    const ended = body?.pipeTo(watched.writable) ?? Promise.resolve();
    void ended.then(
      () => this.#end(undefined),
      (thrown: unknown) => this.#end(thrown),
    );
    return new Response(watched.readable, { headers, status, statusText });
  }

  #end(thrown: unknown): void {
    if (this.#isClosed) return;
    const isTooLarge = thrown instanceof GloveboxError;
    this.#failure = isTooLarge
      ? { code: thrown.code, cause: thrown.message, hint: thrown.details.hint ?? STREAM_LOST.hint }
      : STREAM_LOST;
    void this.close();
  }
}

function checkStatus(response: Response): Response {
  if (response.ok) return response;
  const { status, statusText } = response;
  void response.body?.cancel();
  throw new SdkHttpError(SdkErrorCode.ClientHttpFailedToOpenStream, "The server refused the request", {
    status,
    statusText,
  });
}
