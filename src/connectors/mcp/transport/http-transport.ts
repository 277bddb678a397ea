/**
 * The Streamable HTTP transport of the SDK with two repairs: a response stream that ends without an answer fails its
 * call instead of leaving it waiting, and a cancelled call also gives up its stream.
 */

import { StreamableHTTPClientTransport, isJSONRPCNotification, isJSONRPCRequest } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, TransportSendOptions } from "@modelcontextprotocol/client";

import { settlesWithin } from "../../../timing/index.ts";
import type { FetchLike } from "../../../egress/index.ts";

import type { ServerTransport } from "./server-transport.ts";

/** How long closing waits for the server to forget the session. */
const FAREWELL_MS = 500;
/** In the range that JSON-RPC leaves to implementations; `to-error.ts` knows it. */
export const STREAM_ENDED = -32_099;

export interface HttpTransportOptions {
  readonly url: URL;
  /** Already bound to the upstream's own origin. */
  readonly fetch: FetchLike;
  readonly headers: Readonly<Record<string, string>>;
}

type MessageId = string | number;

/** Sends each message as a request of its own; there is no process and no output to show. */
export class HttpTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** Tells the client of 2026-07-28 to cancel a request by closing its stream, and that headers are carried. */
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

  /** The 2025 protocol cancels by a notification; what that means for the stream is decided here. */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#ask(message, message.id, options);
    await this.#inner.send(message);
    const cancelled = toCancelledId(message);
    if (cancelled === undefined) return;
    this.#open.get(cancelled)?.abort();
    this.#open.delete(cancelled);
  }

  /** Once is enough: the end is announced to an owner who may well answer by closing. */
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

  /** The server closed the stream. If the answer had come, the entry would be gone. */
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
