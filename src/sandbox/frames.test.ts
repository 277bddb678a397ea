/** Frames survive any cutting of the stream, and a lying length is refused before anything is kept for it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { GloveboxError } from "../domain/index.ts";
import { createFrameReader, encodeFrame, readBlocking } from "./frames.ts";
import type { Frame, FrameReader } from "./frames.ts";

const HEAD_BYTES = 13;
const frame = {
  kind: fc.integer({ min: 0, max: 255 }),
  id: fc.integer({ min: 0, max: 0xffff_ffff }),
  atMs: fc.double({ noNaN: true }),
  text: fc.string({ unit: "grapheme", maxLength: 200 }),
};
const frames = fc.array(fc.record(frame, { noNullPrototype: true }));

function encode({ kind, id, atMs, text }: Frame): Buffer {
  return encodeFrame(kind, id, atMs, text);
}

function drain(reader: FrameReader): readonly Frame[] {
  const read: Frame[] = [];
  for (let frame = reader.next(); frame; frame = reader.next()) read.push(frame);
  return read;
}

function withLength(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}

function announced(length: number): GloveboxError {
  return new GloveboxError("SANDBOX_CRASHED", `A sandbox child announced a frame of ${length} bytes`);
}

describe("frames", () => {
  it("reads frames from a stream that is split anywhere", () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(5_000)), (sent, places) => {
        const stream = Buffer.concat(sent.map(encode));
        const cuts = [0, ...places.filter((place) => place < stream.length).toSorted((a, b) => a - b), stream.length];
        const reader = createFrameReader(10_000);
        const read: Frame[] = [];
        for (const [index, cut] of cuts.slice(1).entries()) {
          reader.push(stream.subarray(cuts[index], cut));
          read.push(...drain(reader));
        }
        assert.deepEqual(read, sent);
      }),
    );
  });
  for (const more of [-1, 0, 1]) {
    it(`reads a frame of 64 KiB and ${more} bytes in any pieces, and the frames around it`, () => {
      const text = "é😀a".repeat(9_000) + "x".repeat(65_536 - HEAD_BYTES - 63_000 + more);
      assert.equal(Buffer.byteLength(text) + HEAD_BYTES, 65_536 + more);
      const long = { kind: 3, id: 7, atMs: 1.5, text };
      const sent = [{ kind: 1, id: 1, atMs: 0, text: "a" }, long, long, { kind: 2, id: 2, atMs: 0, text: "é" }];
      const stream = Buffer.concat(sent.map(encode));
      for (const size of [1, 7, 16, 17, 18, 4_096, 65_535, 65_536, 70_000, stream.length]) {
        const reader = createFrameReader(100_000);
        const read: Frame[] = [];
        for (let at = 0; at < stream.length; at += size) {
          reader.push(stream.subarray(at, at + size));
          read.push(...drain(reader));
        }
        assert.deepEqual(read, sent);
      }
    });
  }
  it("reads frames byte by byte", () => {
    const sent = { kind: 17, id: 1, atMs: 1.5, text: "größe 😀\n" };
    const reader = createFrameReader(1_000);
    const read = [...encode(sent)].flatMap((byte) => {
      reader.push(Buffer.from([byte]));
      return drain(reader);
    });
    assert.deepEqual(read, [sent]);
  });
  it("returns an incomplete frame once the rest has arrived", () => {
    const bytes = encodeFrame(1, 2, 3, "text");
    for (let size = 0; size < bytes.length; size += 1) {
      const reader = createFrameReader(1_000);
      reader.push(bytes.subarray(0, size));
      assert.equal(reader.next(), undefined, `${size} bytes`);
      reader.push(bytes.subarray(size));
      assert.deepEqual(reader.next(), { kind: 1, id: 2, atMs: 3, text: "text" });
    }
  });
  it("replaces invalid UTF-8 in a frame by U+FFFD", () => {
    const bytes = encodeFrame(1, 2, 3, "xx");
    bytes.writeUInt16LE(0xfffe, bytes.length - 2);
    const reader = createFrameReader(1_000);
    reader.push(bytes);
    assert.equal(reader.next()?.text, "\ufffd\ufffd");
  });
});

describe("the length of a frame", () => {
  it("accepts a frame length below and at the limit", () => {
    for (const size of [99, 100]) {
      const reader = createFrameReader(HEAD_BYTES + 100);
      reader.push(encodeFrame(1, 2, 3, "x".repeat(size)));
      assert.equal(reader.next()?.text.length, size);
    }
  });
  it("refuses a frame length above the limit by its first four bytes", () => {
    const reader = createFrameReader(HEAD_BYTES + 100);
    reader.push(withLength(HEAD_BYTES + 101));
    assert.throws(() => reader.next(), announced(HEAD_BYTES + 101));
  });
  it("refuses a frame of four gigabytes without allocating it", () => {
    const before = process.memoryUsage().arrayBuffers;
    const reader = createFrameReader(80 * 1024 * 1024);
    reader.push(withLength(0xffff_ffff));
    assert.throws(() => reader.next(), announced(0xffff_ffff));
    assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
  });
  it("refuses a length below the header and accepts an empty frame", () => {
    for (const length of [0, 1, HEAD_BYTES - 1]) {
      const reader = createFrameReader(1_000);
      reader.push(Buffer.concat([withLength(length), Buffer.alloc(64)]));
      assert.throws(() => reader.next(), announced(length));
    }
    const reader = createFrameReader(1_000);
    reader.push(encodeFrame(1, 2, 3, ""));
    assert.deepEqual(reader.next(), { kind: 1, id: 2, atMs: 3, text: "" });
  });
});

describe("readBlocking", () => {
  it("readBlocking reads until a frame is complete and keeps the rest", () => {
    const stream = Buffer.concat([encodeFrame(1, 1, 0, "first"), encodeFrame(2, 2, 0, "second")]);
    const pieces = [stream.subarray(0, 3), stream.subarray(3, 30), stream.subarray(30)];
    const read = (into: Buffer): number => pieces.shift()?.copy(into) ?? 0;
    const reader = createFrameReader(1_000);
    assert.equal(readBlocking(reader, read)?.text, "first");
    assert.equal(readBlocking(reader, read)?.text, "second");
    assert.equal(readBlocking(reader, read), undefined);
  });
});
