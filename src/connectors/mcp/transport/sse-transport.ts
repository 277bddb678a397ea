/**
 * The HTTP+SSE transport of 2024-11-05: one stream carries every answer, and each message is a separate request. The
 * SDK would reopen a lost stream by itself, which is a new session without a handshake. So the end of the stream ends
 * the connection here.
 */

import { SSEClientTransport, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";

import { GloveboxError } from "../../../domain/index.ts";

import { unreachable } from "../../upstream-error.ts";
import type { UpstreamFailure } from "../../upstream-error.ts";
import type { HttpTransportOptions } from "./http-transport.ts";

const STREAM_LOST = unreachable("the event stream ended");

/** Sends nothing before `start()`, which resolves when the server has named the address for messages. */
export class SseTransport extends SSEClientTransport {
  #hasStream = false;
  #isClosed = false;
  /** Why the stream could not be opened: the event source hides it behind another error. */
  #startError: unknown;
  #failure: UpstreamFailure | undefined;

  constructor({ url, fetch, headers, restore }: HttpTransportOptions) {
    super(url, {
      requestInit: { headers },
      fetch: async (target, init) => {
        const isStream = (init?.method ?? "GET").toUpperCase() === "GET";
        if (isStream && this.#hasStream) throw new Error("The stream is opened only once");
        this.#hasStream ||= isStream;
        try {
          const response = checkStatus(await fetch(target, init));
          return isStream ? this.#watch(response) : response;
        } catch (thrown) {
          if (isStream) this.#startError = thrown;
          throw thrown;
        }
      },
    });
    // The client calls this handler before its own.
    this.onmessage = restore;
  }

  failure(): UpstreamFailure | undefined {
    return this.#failure;
  }

  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (thrown) {
      await this.close();
      throw this.#startError ?? thrown;
    }
  }

  override async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await super.close();
  }

  #watch({ body, headers, status, statusText }: Response): Response {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    // Rejects if the stream breaks, an event is too large or the reader is closed.
    const ended = body?.pipeTo(writable) ?? Promise.resolve();
    void ended
      .then(() => STREAM_LOST, toFailure)
      .then((failure) => {
        if (this.#isClosed) return undefined;
        this.#failure = failure;
        return this.close();
      });
    return new Response(readable, { headers, status, statusText });
  }
}

function toFailure(thrown: unknown): UpstreamFailure {
  if (!(thrown instanceof GloveboxError)) return STREAM_LOST;
  return { code: thrown.code, cause: thrown.message, hint: thrown.details.hint ?? STREAM_LOST.hint };
}

function checkStatus(response: Response): Response {
  if (response.ok) return response;
  const { status, statusText } = response;
  void response.body?.cancel();
  const message = "The server refused the request";
  throw new SdkHttpError(SdkErrorCode.ClientHttpFailedToOpenStream, message, { status, statusText });
}
