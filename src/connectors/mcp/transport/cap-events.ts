/** Limits the events of a stream one by one, because a stream that stays open has no total size. */

import { GloveboxError } from "../../../domain/index.ts";
import type { FetchLike } from "../../../egress/index.ts";

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Limits each event of a GET, which opens a stream, and every other response as a whole. */
export function capStreams(whole: FetchLike, endless: FetchLike, maxBytes: number): FetchLike {
  return async (url, init) => {
    if ((init?.method ?? "GET").toUpperCase() !== "GET") return whole(url, init);
    const response = await endless(url, init);
    const { body, headers, status, statusText } = response;
    if (!body) return response;
    return new Response(body.pipeThrough(createEventCounter(maxBytes)), { headers, status, statusText });
  };
}

/** Counts from one blank line to the next, which ends an event (HTML, section 9.2.5). */
function createEventCounter(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let eventBytes = 0;
  let lineBytes = 0;

  /** True when this part of a line makes the event too large. */
  function count(line: Uint8Array, isWhole: boolean): boolean {
    eventBytes += line.length + 1;
    lineBytes += line.at(-1) === RETURN ? line.length - 1 : line.length;
    if (isWhole && lineBytes === 0) eventBytes = 0;
    if (isWhole) lineBytes = 0;
    return eventBytes > maxBytes;
  }

  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (let start = 0; start < chunk.length;) {
        const end = chunk.indexOf(NEWLINE, start);
        const isWhole = end !== -1;
        if (count(chunk.subarray(start, isWhole ? end : chunk.length), isWhole)) {
          const hint = "Ask the upstream for less at a time";
          const error = new GloveboxError("LIMIT_SIZE", `An event is larger than ${maxBytes} bytes`, { hint });
          return controller.error(error);
        }
        start = isWhole ? end + 1 : chunk.length;
      }
      controller.enqueue(chunk);
    },
  });
}
