/**
 * Limits the events of a stream one by one, because a stream that stays open has no total size. Line ends become line
 * feeds, so that an event is passed on with the byte that ends it (HTML, section 9.2.5).
 */

import type { Transformer } from "node:stream/web";

import { GloveboxError } from "../../../domain/index.ts";
import type { FetchLike } from "../../../egress/index.ts";

import type { LargeEventStream, LargeEvents } from "./large-events.ts";

/** A smaller event passes unchanged. */
const LARGE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK_LINE = Buffer.from("\n\n");

type EventOutput = TransformStreamDefaultController<Uint8Array>;

export interface StreamSources {
  /** Limits a response as a whole. */
  readonly whole: FetchLike;
  /** Does not limit it: for a GET, which opens a stream. */
  readonly endless: FetchLike;
  /** Of one event. */
  readonly maxBytes: number;
  readonly largeEvents: LargeEvents;
}

export function limitEvents({ whole, endless, maxBytes, largeEvents }: StreamSources): FetchLike {
  return async (url, init) => {
    const isGet = (init?.method ?? "GET").toUpperCase() === "GET";
    const response = await (isGet ? endless : whole)(url, init);
    const { body, headers, status, statusText } = response;
    const isStream = isGet || headers.get("content-type")?.includes("text/event-stream") === true;
    if (!body || !isStream) return response;
    const events = new EventSplitter(maxBytes, largeEvents.openStream());
    return new Response(body.pipeThrough(new TransformStream(events)), { headers, status, statusText });
  };
}

/** Passes small events on as they are, and gives the text of large ones to `shorten`. */
class EventSplitter implements Transformer<Uint8Array, Uint8Array> {
  readonly cancel: () => void;
  readonly #maxBytes: number;
  readonly #shorten: (text: string) => Promise<string>;
  /** The begin of an event: its bytes, or its text if it is large. */
  #parts: Uint8Array[] = [];
  #texts: string[] = [];
  #heldBytes = 0;
  #decoder = new TextDecoder();
  #isAfterReturn = false;
  #isAtLineStart = true;

  constructor(maxBytes: number, { shorten, drop }: LargeEventStream) {
    this.#maxBytes = maxBytes;
    this.#shorten = shorten;
    this.cancel = drop;
  }

  async transform(chunk: Uint8Array, output: EventOutput): Promise<void> {
    const bytes = this.#toLineFeeds(chunk);
    // Small events of a chunk are passed on together: from `from` to `end`.
    let from = 0;
    let end = 0;
    for (let next = this.#findEnd(bytes, end); next !== -1; next = this.#findEnd(bytes, end)) {
      this.#check(next - end);
      if (this.#heldBytes + next - end > LARGE_BYTES) {
        if (end > from) output.enqueue(bytes.subarray(from, end));
        this.#hold(bytes.subarray(end, next));
        output.enqueue(Buffer.from(await this.#shorten(this.#takeText())));
        from = next;
      } else this.#passHeld(output);
      end = next;
    }
    if (end > from) output.enqueue(bytes.subarray(from, end));
    this.#check(bytes.length - end);
    if (bytes.length > end) this.#hold(bytes.subarray(end));
  }

  /** An event without its end is ignored by every reader. */
  flush(output: EventOutput): void {
    this.#passHeld(output);
  }

  #check(bytes: number): void {
    if (this.#heldBytes + bytes <= this.#maxBytes) return;
    const hint = "Ask the upstream for less at a time";
    throw new GloveboxError("LIMIT_SIZE", `An event is larger than ${this.#maxBytes} bytes`, { hint });
  }

  #hold(part: Uint8Array): void {
    this.#heldBytes += part.length;
    this.#parts.push(part);
    if (this.#heldBytes <= LARGE_BYTES) return;
    this.#texts.push(...this.#parts.map((one) => this.#decoder.decode(one, { stream: true })));
    this.#parts = [];
  }

  #passHeld(output: EventOutput): void {
    for (const part of this.#parts) output.enqueue(part);
    this.#parts = [];
    this.#heldBytes = 0;
  }

  #takeText(): string {
    const text = this.#texts.join("") + this.#decoder.decode();
    this.#texts = [];
    this.#heldBytes = 0;
    return text;
  }

  /** The place after the next blank line; -1 if there is none. */
  #findEnd(bytes: Uint8Array, start: number): number {
    if (start >= bytes.length) return -1;
    if (this.#isAtLineStart && bytes[start] === NEWLINE) return start + 1;
    const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(BLANK_LINE, start);
    this.#isAtLineStart = found !== -1 || bytes.at(-1) === NEWLINE;
    return found === -1 ? -1 : found + BLANK_LINE.length;
  }

  #toLineFeeds(chunk: Uint8Array): Uint8Array {
    if (!this.#isAfterReturn && !chunk.includes(RETURN)) return chunk;
    const bytes = new Uint8Array(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      if (byte !== NEWLINE || !this.#isAfterReturn) {
        bytes[length] = byte === RETURN ? NEWLINE : byte;
        length += 1;
      }
      this.#isAfterReturn = byte === RETURN;
    }
    return bytes.subarray(0, length);
  }
}
