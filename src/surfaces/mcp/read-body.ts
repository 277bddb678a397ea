/**
 * Reads request bodies. All bodies that are still arriving share one budget, so that clients which never finish theirs
 * cannot fill the memory.
 */

import { GloveboxError } from "../../domain/index.ts";

/** The size of one body, and of all bodies that have not arrived completely. */
export interface BodyLimits {
  readonly requestBytes: number;
  readonly unfinishedBytes: number;
}

/** A body that is still arriving. */
interface Unfinished {
  bytes: number;
  isDropped: boolean;
  readonly drop: () => void;
}

/** The first allocation; most requests fit. */
const FIRST_BYTES = 4_096;

/**
 * The returned function resolves to the text of a body, or to `undefined` if the body is too large. It rejects with
 * `LIMIT_BUSY` if the body was dropped: above the budget the body that started first is, because a client that works
 * sends its body at once. It rejects with `REQUEST_INVALID` if the client disconnects before the end.
 */
export function createBodyReader({ requestBytes, unfinishedBytes }: BodyLimits) {
  /** In the order of their start. */
  const unfinished = new Set<Unfinished>();
  let held = 0;

  const forget = (body: Unfinished): void => {
    if (unfinished.delete(body)) held -= body.bytes;
  };
  const count = (body: Unfinished, bytes: number): void => {
    body.bytes += bytes;
    held += bytes;
    for (const oldest of unfinished) {
      if (held <= unfinishedBytes) return;
      oldest.isDropped = true;
      forget(oldest);
      oldest.drop();
    }
  };

  return async ({ body: stream }: Request): Promise<string | undefined> => {
    if (!stream) return "";
    const reader = stream.getReader();
    const drop = (): void => void reader.cancel().catch(() => undefined);
    const body: Unfinished = { bytes: 0, isDropped: false, drop };
    unfinished.add(body);
    // One growing buffer: many small chunks would take far more memory than their bytes.
    let kept = Buffer.alloc(FIRST_BYTES);
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(failUnfinished);
        if (body.isDropped) failDropped(unfinishedBytes);
        if (done) return new TextDecoder().decode(kept.subarray(0, body.bytes));
        const start = body.bytes;
        if (start + value.length > requestBytes) return undefined;
        count(body, value.length);
        if (body.bytes > kept.length) kept = grow(kept, body.bytes);
        kept.set(value, start);
      }
    } finally {
      forget(body);
      drop();
    }
  };
}

function grow(buffer: Buffer<ArrayBuffer>, needed: number): Buffer<ArrayBuffer> {
  const grown = Buffer.alloc(Math.max(2 * buffer.length, needed));
  grown.set(buffer);
  return grown;
}

function failUnfinished(cause: unknown): never {
  throw new GloveboxError("REQUEST_INVALID", "The connection ended before the whole request body arrived", {
    cause,
    hint: "Send the whole body",
  });
}

function failDropped(unfinishedBytes: number): never {
  throw new GloveboxError("LIMIT_BUSY", `Unfinished request bodies have more than ${unfinishedBytes} bytes in all`, {
    hint: "Send the request again, without a pause inside its body",
  });
}
