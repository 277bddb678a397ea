/** Unpacks a response while it arrives, and ends one that grows past its limit, whatever its headers promised. */

import type { IncomingMessage } from "node:http";
import { Transform, pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { GloveboxError } from "../../domain/index.ts";

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
  const packed = createDecoder(response);
  if (!packed) return response;
  const { decoder, nothing } = packed;
  // Packed bytes count too: a body can be packed so that it never unfolds to anything and never ends.
  const maxPacked = maxBytes + Math.ceil(maxBytes * MAX_PACKING) + PACKING_BYTES;
  const counter = createByteCounter({ maxBytes: maxPacked, shownBytes: maxBytes, nothing });
  pipeline([response, counter, decoder], () => undefined); // a failure of one reaches the reader through the others
  return decoder;
}

/** A decoder that takes a body which ends too early for an error, and what it takes for an empty one. */
interface BodyDecoder {
  readonly decoder: Transform;
  readonly nothing: Buffer;
}

/** What packing may add to bytes that cannot be made smaller. */
const MAX_PACKING = 0.01;
const PACKING_BYTES = 4096;

/**
 * Ends a body that grows too large. Decoded bytes are counted, so a small compressed body cannot unfold into a large
 * one: the decoder stops at the first piece too many.
 */
export function capBody(body: Readable, maxBytes: number): Readable {
  const counter = createByteCounter({ maxBytes, shownBytes: maxBytes });
  pipeline([body, counter], () => undefined);
  return counter;
}

function createDecoder(response: IncomingMessage): BodyDecoder | undefined {
  const coding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  switch (coding) {
    case "identity":
    case "":
      return undefined;
    case "gzip":
    case "x-gzip":
      return { decoder: createGunzip(), nothing: gzipSync("") };
    case "deflate":
      return { decoder: createInflate(), nothing: deflateSync("") };
    case "br":
      return { decoder: createBrotliDecompress(), nothing: brotliCompressSync("") };
    case "zstd":
      return {
        decoder: createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
        nothing: zstdCompressSync(""),
      };
    default:
      response.destroy();
      throw new GloveboxError("UPSTREAM_RESULT_INVALID", "The response is encoded in a way that nobody asked for", {
        hint: `Only one of ${ACCEPTED_ENCODINGS} is decoded`,
      });
  }
}

interface CounterOptions {
  readonly maxBytes: number;
  /** What the refusal calls the limit. */
  readonly shownBytes: number;
  /** What goes on in place of a body without a single byte: responses without one often name an encoding all the same. */
  readonly nothing?: Buffer;
}

function createByteCounter({ maxBytes, shownBytes, nothing }: CounterOptions): Transform {
  let seen = 0;
  return new Transform({
    flush(done) {
      done(null, seen === 0 ? nothing : undefined);
    },
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.byteLength;
      if (seen > maxBytes) done(tooLarge(shownBytes));
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
