/**
 * The Streamable HTTP transport of the SDK with two fixes: a response stream that ends without an answer fails its
 * call, and a cancelled call also closes its stream.
 */

import { StreamableHTTPClientTransport, isJSONRPCNotification, isJSONRPCRequest } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, TransportSendOptions } from "@modelcontextprotocol/client";

import { settlesWithin } from "../../../timing/index.ts";
import type { FetchLike } from "../../../egress/index.ts";

import type { ServerTransport } from "./server-transport.ts";

/** How long closing waits for the server to delete the session. */
const FAREWELL_MS = 500;
/** In the range that JSON-RPC reserves for implementations; `to-error.ts` maps it. */
export const STREAM_ENDED = -32_099;

export interface HttpTransportOptions {
  readonly url: URL;
  /** Bound to the upstream's own origin. */
  readonly fetch: FetchLike;
  readonly headers: Readonly<Record<string, string>>;
}

type MessageId = string | number;

/** Sends each message as one request. Without a process it has no output to show. */
export class HttpTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** Makes the 2026-07-28 client cancel a request by closing its stream, and send headers. */
  readonly hasPerRequestStream = true;

  readonly #inner: StreamableHTTPClientTransport;
  readonly #open = new Map<MessageId, AbortController>();
  #closing: Promise<void> | undefined;

  constructor({ url, fetch, headers }: HttpTransportOptions) {
    this.#inner = new StreamableHTTPClientTransport(url, { fetch, requestInit: { headers } });
    Object.assign(this.#inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: (message: JSONRPCMessage) => this.#receive(message),
    });
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  /** The 2025 protocol cancels by a notification; its stream is closed here. */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#ask(message, message.id, options);
    await this.#inner.send(message);
    const cancelled = toCancelledId(message);
    if (cancelled === undefined) return;
    this.#open.get(cancelled)?.abort();
    this.#open.delete(cancelled);
  }

  /** Runs once: the owner may call it again when it is notified of the end. */
  close(): Promise<void> {
    this.#closing ??= this.#sayGoodbye();
    return this.#closing;
  }

  async #sayGoodbye(): Promise<void> {
    await settlesWithin(this.#inner.terminateSession(), FAREWELL_MS);
    await this.#inner.close();
  }

  async #ask(message: JSONRPCMessage, id: MessageId, options: TransportSendOptions): Promise<void> {
    const stream = new AbortController();
    this.#open.set(id, stream);
    const stop = (): void => {
      this.#open.delete(id);
      stream.abort();
    };
    options.requestSignal?.addEventListener("abort", stop, { once: true });
    const onRequestStreamEnd = (): void => {
      this.#giveUp(id);
      options.onRequestStreamEnd?.();
    };
    try {
      const headers = options.headers && { headers: options.headers };
      await this.#inner.send(message, { ...headers, requestSignal: stream.signal, onRequestStreamEnd });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
  }

  #receive(message: JSONRPCMessage): void {
    if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
    this.onmessage?.(message);
  }

  /** The server closed the stream. If the answer had come, the entry would have been removed. */
  #giveUp(id: MessageId): void {
    if (!this.#open.delete(id)) return;
    const error = { code: STREAM_ENDED, message: "The response ended before the answer came" };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }
}

function toCancelledId(message: JSONRPCMessage): MessageId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return undefined;
  const id = message.params?.["requestId"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
