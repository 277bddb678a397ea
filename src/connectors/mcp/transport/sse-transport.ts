/**
 * The HTTP+SSE transport of 2024-11-05: one stream brings every answer, each message goes out as a request of its own.
 * The SDK would open a lost stream again by itself; that is a new session which nobody has shaken hands with, so here
 * the end of the stream is the end of the connection.
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

/** Nothing is requested before `start()`, which resolves when the server has named the address for messages. */
export class SseTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;

  readonly #inner: SSEClientTransport;
  #hasStream = false;
  #isClosed = false;
  /** Why there is no stream: the event source hides it behind an error of its own. */
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
      if (this.#hasStream) throw new Error("The stream is not opened a second time");
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
    // Rejects for a stream that breaks off, an event that is too large, or a reader that has closed.
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
