/** `TextEncoder` and `TextDecoder` against Node's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { TextDecoder, TextEncoder } from "./index.ts";

const NativeDecoder = globalThis.TextDecoder;
const NativeEncoder = globalThis.TextEncoder;

const anyUnit = fc.oneof(
  fc.constantFrom("\ud800", "\udbff", "\udc00", "\udfff", "\ufeff", "\u0000", "\u007f", "\u0080", "\u07ff", "\u0800"),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);
const anyText = fc.string({ unit: anyUnit, maxLength: 30 });
const anyBytes = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xef, 0xbb, 0xf0, 0xf4, 0xf5),
    ),
    { maxLength: 24 },
  )
  .map((bytes) => Uint8Array.from(bytes));

/** What a function answers, or the name of what it throws. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

test("encode returns Node's bytes for every string, also with lone surrogates", () => {
  fc.assert(
    fc.property(anyText, (text) => assert.deepEqual(new TextEncoder().encode(text), new NativeEncoder().encode(text))),
    {
      numRuns: 1000,
    },
  );
});

test("encode returns no bytes for undefined and converts everything else", () => {
  assert.deepEqual(new TextEncoder().encode(), new Uint8Array());
  assert.deepEqual(new TextEncoder().encode(null), new NativeEncoder().encode("null"));
  assert.throws(() => new TextEncoder().encode(Symbol("s")), TypeError);
});

test("encodeInto writes whole characters only, for every size of target", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 40 }), (text, size) => {
      const [mine, native] = [new Uint8Array(size), new Uint8Array(size)];
      assert.deepEqual(new TextEncoder().encodeInto(text, mine), new NativeEncoder().encodeInto(text, native));
      assert.deepEqual(mine, native);
    }),
  );
});

test("encodeInto refuses a target that is not a Uint8Array", () => {
  const encoder = new TextEncoder();
  const target: unknown = new Uint16Array(4);
  assert.throws(() => Reflect.apply(Reflect.get(encoder, "encodeInto"), encoder, ["a", target]), TypeError);
});

test("decode returns Node's string for all bytes and options", () => {
  fc.assert(
    fc.property(anyBytes, fc.boolean(), fc.boolean(), (bytes, fatal, ignoreBOM) => {
      const options = { fatal, ignoreBOM };
      const mine = outcome(() => new TextDecoder("utf-8", options).decode(bytes));
      assert.equal(
        mine,
        outcome(() => new NativeDecoder("utf-8", options).decode(bytes)),
      );
    }),
    { numRuns: 3000 },
  );
});

test("decode returns the same string in chunks as at once", () => {
  fc.assert(
    fc.property(fc.array(anyBytes, { maxLength: 5 }), fc.boolean(), (chunks, ignoreBOM) => {
      const decoder = new TextDecoder("utf-8", { ignoreBOM });
      const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
      assert.equal(text, new NativeDecoder("utf-8", { ignoreBOM }).decode(Buffer.concat(chunks)));
    }),
    { numRuns: 1000 },
  );
});

test("decode drops a byte order mark at the start of each text and keeps it elsewhere", () => {
  const decoder = new TextDecoder();
  const mark = Uint8Array.of(0xef, 0xbb, 0xbf);
  assert.equal(decoder.decode(Uint8Array.of(...mark, 0x61, ...mark)), "a\ufeff");
  assert.equal(decoder.decode(mark.subarray(0, 2), { stream: true }), "");
  assert.equal(decoder.decode(mark.subarray(2), { stream: true }), "");
  assert.equal(decoder.decode(mark), "\ufeff");
  assert.equal(decoder.decode(mark), "");
});

test("a fatal TextDecoder starts again after it has thrown", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  assert.throws(() => decoder.decode(Uint8Array.of(0xe2, 0x41), { stream: true }), TypeError);
  assert.equal(decoder.decode(Uint8Array.of(0x62)), "b");
  assert.throws(() => decoder.decode(Uint8Array.of(0xe2, 0x82)), TypeError);
  assert.equal(decoder.decode(Uint8Array.of(0xe2, 0x82, 0xac)), "€");
});

test("decode takes buffers and all views within their bounds, and nothing else", () => {
  const bytes = Uint8Array.of(0x61, 0x62, 0x63, 0x64);
  const decoder = new TextDecoder();
  assert.equal(decoder.decode(bytes.buffer), "abcd");
  assert.equal(decoder.decode(new DataView(bytes.buffer, 1, 2)), "bc");
  assert.equal(decoder.decode(new Uint16Array(bytes.buffer, 2, 1)), "cd");
  assert.equal(decoder.decode(), "");
  for (const value of ["abc", [0x61], null, {}]) {
    assert.throws(() => Reflect.apply(Reflect.get(decoder, "decode"), decoder, [value]), TypeError);
  }
});

test("decode returns an empty string for a detached buffer", () => {
  const buffer = new ArrayBuffer(4);
  const view = new Uint8Array(buffer);
  buffer.transfer();
  assert.equal(new TextDecoder().decode(buffer), "");
  assert.equal(new TextDecoder().decode(view), "");
});

test("TextDecoder accepts every label of UTF-8 and throws a RangeError for other encodings", () => {
  for (const label of ["utf-8", "UTF8", " unicode-1-1-utf-8\n", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"]) {
    assert.equal(new TextDecoder(label).encoding, "utf-8");
  }
  for (const label of ["utf-16", "latin1", "", "utf-8\u00a0", "utf\u212a"]) {
    assert.throws(() => new TextDecoder(label), RangeError);
  }
});

test("TextDecoder has its options as attributes", () => {
  const { fatal, ignoreBOM } = new TextDecoder("utf-8", { fatal: true });
  assert.deepEqual({ fatal, ignoreBOM }, { fatal: true, ignoreBOM: false });
  assert.equal(new TextEncoder().encoding, "utf-8");
});

test("TextEncoder and TextDecoder convert a megabyte of mixed text", () => {
  const text = "aé€😀".repeat(104_858);
  assert.equal(new TextDecoder().decode(new TextEncoder().encode(text)), text);
});
