/**
 * Frames on the descriptor between host and child: length (u32), kind (u8), id (u32), time (f64), then UTF-8 text,
 * all little-endian; the length counts what follows it. Both ends use this file.
 */

import { StringDecoder } from "node:string_decoder";

import { GloveboxError } from "../domain/index.ts";

export interface Frame {
  readonly kind: number;
  readonly id: number;
  /** Epoch milliseconds in frames from the host, 0 in frames from a child. */
  readonly atMs: number;
  readonly text: string;
}

const LENGTH_BYTES = 4;
const HEAD_BYTES = 13;
const READ_BYTES = 64 * 1024;
/** The text of a longer frame is decoded as it comes, so that its end is not the work of decoding megabytes. */
const LONG_BYTES = 64 * 1024;

export function encodeFrame(kind: number, id: number, atMs: number, text: string): Buffer {
  const size = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + HEAD_BYTES + size);
  frame.writeUInt32LE(HEAD_BYTES + size, 0);
  frame.writeUInt8(kind, 4);
  frame.writeUInt32LE(id, 5);
  frame.writeDoubleLE(atMs, 9);
  frame.write(text, LENGTH_BYTES + HEAD_BYTES, "utf8");
  return frame;
}

export interface FrameReader {
  /** Takes bytes in; the complete frames among them come out of `next`. */
  push(bytes: Buffer): void;
  /** The next complete frame. Throws SANDBOX_CRASHED for a length that no honest peer sends. */
  next(): Frame | undefined;
}

/** A long frame of which a part has come. */
interface LongFrame {
  readonly head: Omit<Frame, "text">;
  readonly decoder: StringDecoder;
  readonly texts: string[];
  left: number;
}

/** Reads frames out of arbitrary pieces. A length over `maxBytes` is refused before anything is allocated for it. */
export function createFrameReader(maxBytes: number): FrameReader {
  let pieces: Buffer[] = [];
  let held = 0;
  let long: LongFrame | undefined;

  const gather = (): Buffer => {
    const [first] = pieces;
    if (first && pieces.length === 1) return first;
    const joined = Buffer.concat(pieces, held);
    pieces = [joined];
    return joined;
  };

  /** Returns the bytes after the long frame. */
  const decode = (frame: LongFrame, bytes: Buffer): Buffer => {
    const own = bytes.subarray(0, frame.left);
    frame.left -= own.length;
    frame.texts.push(frame.decoder.write(own));
    return bytes.subarray(own.length);
  };
  const keep = (bytes: Buffer): void => {
    if (bytes.length === 0) return;
    pieces.push(bytes);
    held += bytes.length;
  };
  const startLong = (length: number): void => {
    const bytes = gather();
    const start = LENGTH_BYTES + HEAD_BYTES;
    pieces = [];
    held = 0;
    long = { head: readHead(bytes), decoder: new StringDecoder("utf8"), texts: [], left: length - HEAD_BYTES };
    decode(long, bytes.subarray(start));
  };

  return {
    push: (bytes) => keep(long ? decode(long, bytes) : bytes),
    next() {
      if (long && long.left > 0) return undefined;
      if (long) {
        const { head, decoder, texts } = long;
        long = undefined;
        return { ...head, text: texts.join("") + decoder.end() };
      }
      const [first] = pieces;
      if (held < LENGTH_BYTES || !first) return undefined;
      const head = first.length >= LENGTH_BYTES ? first : gather();
      const length = head.readUInt32LE(0);
      if (length < HEAD_BYTES || length > maxBytes) {
        throw new GloveboxError("SANDBOX_CRASHED", `A sandbox child announced a frame of ${length} bytes`);
      }
      if (held < LENGTH_BYTES + length) {
        if (length > LONG_BYTES && held >= LENGTH_BYTES + HEAD_BYTES) startLong(length);
        return undefined;
      }
      const bytes = gather();
      const end = LENGTH_BYTES + length;
      const rest = bytes.subarray(end);
      pieces = rest.length > 0 ? [rest] : [];
      held = rest.length;
      return { ...readHead(bytes), text: bytes.toString("utf8", LENGTH_BYTES + HEAD_BYTES, end) };
    },
  };
}

function readHead(bytes: Buffer): Omit<Frame, "text"> {
  return { kind: bytes.readUInt8(4), id: bytes.readUInt32LE(5), atMs: bytes.readDoubleLE(9) };
}

/** Shared by all reads, because most bring a few bytes; the frame reader gets a copy. */
let chunk: Buffer | undefined;

/** The child's end: blocks until the host sends something, because a child has nothing else to do. */
export function readBlocking(reader: FrameReader, read: (into: Buffer) => number): Frame | undefined {
  chunk ??= Buffer.allocUnsafeSlow(READ_BYTES);
  for (;;) {
    const frame = reader.next();
    if (frame) return frame;
    const size = read(chunk);
    if (size === 0) return undefined;
    reader.push(Buffer.from(chunk.subarray(0, size)));
  }
}
