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
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (let start = 0; start < chunk.length;) {
        const end = chunk.indexOf(NEWLINE, start);
        const line = chunk.subarray(start, end === -1 ? chunk.length : end);
        start += line.length + 1;
        eventBytes += line.length + 1;
        lineBytes += line.at(-1) === RETURN ? line.length - 1 : line.length;
        if (end !== -1 && lineBytes === 0) eventBytes = 0;
        if (end !== -1) lineBytes = 0;
        if (eventBytes <= maxBytes) continue;
        const hint = "Ask the upstream for less at a time";
        const error = new GloveboxError("LIMIT_SIZE", `An event is larger than ${maxBytes} bytes`, { hint });
        return controller.error(error);
      }
      controller.enqueue(chunk);
    },
  });
}
