/**
 * The Streamable HTTP transport of the SDK with two fixes: a response stream that ends without an answer fails its
 * call, and a cancelled call also closes its stream.
 */

import { StreamableHTTPClientTransport, isJSONRPCNotification, isJSONRPCRequest } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, TransportSendOptions } from "@modelcontextprotocol/client";

import { settlesWithin } from "../../../timing/index.ts";
import type { FetchLike } from "../../../egress/index.ts";

/** How long closing waits for the server to delete the session. */
const FAREWELL_MS = 500;
/** In the range that JSON-RPC reserves for implementations; `to-error.ts` maps it. */
export const STREAM_ENDED = -32_099;

export interface HttpTransportOptions {
  readonly url: URL;
  /** Bound to the upstream's own origin. */
  readonly fetch: FetchLike;
  readonly headers: Readonly<Record<string, string>>;
  /** Completes a message before it is handled. */
  readonly restore: (message: object) => void;
}

/** Sends each message as one request. */
export class HttpTransport extends StreamableHTTPClientTransport {
  /** The requests without an answer, by the id of their message. */
  readonly #open = new Map<unknown, AbortController>();
  #closing: Promise<void> | undefined;

  constructor({ url, fetch, headers, restore }: HttpTransportOptions) {
    super(url, { fetch, requestInit: { headers } });
    // The client calls this handler before its own.
    this.onmessage = (message) => {
      restore(message);
      if (!("method" in message)) this.#open.delete(message.id);
    };
  }

  /** The 2025 protocol cancels by a notification; its stream is closed here. */
  override async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#ask(message, message.id, options);
    await super.send(message);
    if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return;
    const id = message.params?.["requestId"];
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }

  /** Runs once: the owner may call it again when it is notified of the end. */
  override close(): Promise<void> {
    this.#closing ??= settlesWithin(this.terminateSession(), FAREWELL_MS).then(() => super.close());
    return this.#closing;
  }

  async #ask(message: JSONRPCMessage, id: string | number, options: TransportSendOptions): Promise<void> {
    const stream = new AbortController();
    this.#open.set(id, stream);
    const stop = (): void => {
      this.#open.delete(id);
      stream.abort();
    };
    options.requestSignal?.addEventListener("abort", stop, { once: true });
    const onRequestStreamEnd = (): void => {
      // The server closed the stream. If the answer had come, the entry would have been removed.
      const error = { code: STREAM_ENDED, message: "The response ended before the answer came" };
      if (this.#open.delete(id)) this.onmessage?.({ jsonrpc: "2.0", id, error });
      options.onRequestStreamEnd?.();
    };
    try {
      const headers = options.headers && { headers: options.headers };
      await super.send(message, { ...headers, requestSignal: stream.signal, onRequestStreamEnd });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
  }
}
