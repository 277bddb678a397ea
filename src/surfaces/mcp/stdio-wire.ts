/**
 * The transport of a client on standard streams. Replaces the one of the SDK, which parses every message again and
 * closes the connection after one long line.
 */

import type { Readable, Writable } from "node:stream";

import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { createLineReader } from "./read-lines.ts";
import { INVALID_REQUEST, describeRepeatedId } from "./repeated-ids.ts";

/** Several times the largest program with its input. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Lines of one turn of the event loop leave in one write. Refuses a request whose id belongs to an open request. */
export class StdioWire implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;

  readonly #streams: Streams;
  readonly #take: (message: JsonObject) => boolean;
  readonly #open = new Set<RequestId>();
  #held = "";
  #isClosed = false;

  /** `take` is called with every message before the SDK is, and returns true for one that the SDK must not see. */
  constructor(streams: Streams, take: (message: JsonObject) => boolean) {
    this.#streams = streams;
    this.#take = take;
  }

  async start(): Promise<void> {
    const { input, output } = this.#streams;
    const read = createLineReader(MAX_MESSAGE_BYTES, {
      onMessage: (message) => this.#receive(message),
      refuse: (answer) => this.#write(answer),
    });
    // The last message is handled before the end, so that the work it starts can be ended.
    const end = (): void => void setImmediate(() => void this.close());
    input.on("data", (chunk: Buffer) => this.#isClosed || read(chunk));
    input.once("end", end).once("error", end).once("close", end);
    output.on("error", (error) => {
      if (this.#isClosed) return;
      this.onerror?.(error);
      void this.close();
    });
  }

  /** A message that answers a request frees its id. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("The client has disconnected");
    if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
    this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.#streams.input.pause();
    this.onclose?.();
  }

  #receive(message: JsonObject): void {
    const { id, method, params } = message;
    const request = method !== undefined && (typeof id === "string" || typeof id === "number") ? id : undefined;
    if (request !== undefined && this.#open.has(request)) {
      const error = { code: INVALID_REQUEST, message: describeRepeatedId(request) };
      return this.#write({ jsonrpc: "2.0", id: request, error });
    }
    // A cancelled request has no answer.
    const cancelled = method === "notifications/cancelled" && isJsonObject(params) ? params["requestId"] : undefined;
    if (typeof cancelled === "string" || typeof cancelled === "number") this.#open.delete(cancelled);
    if (request !== undefined) this.#open.add(request);
    if (this.#take(message)) return;
    try {
      this.onmessage?.(parseJSONRPCMessage(message));
    } catch (error) {
      if (request !== undefined) this.#open.delete(request);
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #write(message: object): void {
    if (this.#held === "") process.nextTick(() => this.#flush());
    this.#held += `${JSON.stringify(message)}\n`;
  }

  #flush(): void {
    const text = this.#held;
    this.#held = "";
    if (text !== "" && !this.#isClosed) this.#streams.output.write(text);
  }
}
