/** Unpacks a response while it arrives, and ends one that grows past its limit, whatever its headers promised. */

import type { IncomingMessage } from "node:http";
import { Transform, pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { GloveboxError } from "../domain/index.ts";

/** What RFC 9659 lets a server use; more would be memory that a stranger decides on. */
const ZSTD_WINDOW_LOG = 23;

export const ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd";

/** The body as it was meant. Whoever reads it counts: `capBody`, or a reader that keeps all of it. */
export function decodeBody(response: IncomingMessage, maxBytes: number): Readable {
  // The declared length is looked at first, which saves reading a body that is honest about being too large.
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) {
    response.destroy();
    throw tooLarge(maxBytes);
  }
  const decoder = createDecoder(response);
  if (!decoder) return response;
  pipeline([response, decoder], () => undefined); // a failure of one reaches the reader through the other
  return decoder;
}

/**
 * Ends a body that grows too large. Decoded bytes are counted, so a small compressed body cannot unfold into a large
 * one: the decoder stops at the first piece too many.
 */
export function capBody(body: Readable, maxBytes: number): Readable {
  const counter = createByteCounter(maxBytes);
  pipeline([body, counter], () => undefined);
  return counter;
}

function createDecoder(response: IncomingMessage): Transform | undefined {
  const coding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  switch (coding) {
    case "identity":
    case "":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
    case "deflate":
      return createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } });
    default:
      response.destroy();
      throw new GloveboxError("UPSTREAM_RESULT_INVALID", "The response is encoded in a way that nobody asked for", {
        hint: `Only one of ${ACCEPTED_ENCODINGS} is decoded`,
      });
  }
}

function createByteCounter(maxBytes: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.byteLength;
      if (seen > maxBytes) done(tooLarge(maxBytes));
      else done(null, chunk);
    },
  });
}

/** The one refusal for a body that is too large. */
export function tooLarge(maxBytes: number): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `The response is larger than ${maxBytes} bytes`, {
    hint: "Ask for less at a time",
  });
}
