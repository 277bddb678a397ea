/** Decompresses a response while it arrives, and ends one that exceeds its limit, whatever its headers declare. */

import type { IncomingMessage } from "node:http";
import { Transform, pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { GloveboxError } from "../../domain/index.ts";

/** The maximum of RFC 9659; more would let a server decide how much memory is used. */
const ZSTD_WINDOW_LOG = 23;

export const ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd";

/** What compression may add to incompressible data. */
const MAX_PACKING = 0.01;
const PACKING_BYTES = 4096;

/** A decoder that treats a truncated body as an error, and its encoding of an empty body. */
interface BodyDecoder {
  readonly decoder: Transform;
  readonly nothing: Buffer;
}

/**
 * The decoded body, which ends with `LIMIT_SIZE` when it grows too large. Decoded bytes count, so a small compressed
 * body cannot expand without limit.
 */
export function decodeBody(response: IncomingMessage, maxBytes: number): Readable {
  const declared = response.headers["content-length"];
  // The declared length first, which saves reading a body that is declared as too large.
  if (Number(declared ?? 0) > maxBytes) {
    response.destroy();
    throw tooLarge(maxBytes);
  }
  const packed = createDecoder(response);
  // The platform holds a server to the length that it declared.
  if (!packed && declared !== undefined) return response;
  const counter = createByteCounter(maxBytes, maxBytes);
  // Compressed bytes count too: a body can be made to never decompress to anything and never end.
  const maxPacked = maxBytes + Math.ceil(maxBytes * MAX_PACKING) + PACKING_BYTES;
  const unpack = packed ? [createByteCounter(maxPacked, maxBytes, packed.nothing), packed.decoder] : [];
  pipeline([response, ...unpack, counter], () => undefined); // an error in one stream reaches the reader
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
      throw new GloveboxError("UPSTREAM_RESULT_INVALID", "The response has a content encoding that was not requested", {
        hint: `Supported encodings: ${ACCEPTED_ENCODINGS}`,
      });
  }
}

/** `nothing` replaces an empty body: responses without a body often name an encoding anyway. */
function createByteCounter(maxBytes: number, shownBytes: number, nothing?: Buffer): Transform {
  let bytes = 0;
  return new Transform({
    flush(done) {
      done(null, bytes === 0 ? nothing : undefined);
    },
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) done(tooLarge(shownBytes));
      else done(null, chunk);
    },
  });
}

function tooLarge(maxBytes: number): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `The response is larger than ${maxBytes} bytes`, {
    hint: "Ask for less at a time",
  });
}
