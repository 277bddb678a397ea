/** The image as a file, what a reset restores, and what makes an instance unfit for one. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { buildImage } from "../../../../scripts/build-image.ts";
import { digestOf } from "../../../text/index.ts";
import { loadQuickjsImage } from "../../fixtures/quickjs-image.ts";
import { findBuilt } from "../../find-built.ts";
import { GUARD_BYTES, STACK_ZEROED_BYTES, STATIC_BYTES, canReset, findDifference, parseImage, reset } from "./image.ts";
import { FIRST_BYTES } from "./load-quickjs.ts";
import type { QuickjsInstance } from "./load-quickjs.ts";
import { GUARDED_IMAGE_FILE } from "./quickjs-engine.ts";

const MEGABYTE = 1024 * 1024;
const { wasm, file, image, createInstance } = loadQuickjsImage();
const { stackPointer, heapEnd, heapEndAt, high } = image;
const zeroedFrom = stackPointer - STACK_ZEROED_BYTES;

function openInstance(): QuickjsInstance {
  const instance = createInstance();
  reset(instance, image);
  return instance;
}

describe("the file of the image", () => {
  it("the build makes the same image again, byte for byte", () => assert.ok(buildImage(wasm).equals(file)));
  it("the build makes the same guarded image again, byte for byte", () => {
    const guarded = readFileSync(findBuilt("quickjs", GUARDED_IMAGE_FILE));
    assert.ok(buildImage(wasm, { guarded: true }).equals(guarded) && !guarded.equals(file));
  });
  it("an image takes less than a megabyte", () => assert.ok(file.length < MEGABYTE, `${file.length} bytes`));
  it("an image with the expected digest and module is accepted", () => {
    assert.equal(parseImage(file, [digestOf(file)], wasm).stackPointer, stackPointer);
  });
  it("an image with one other byte is refused", () => {
    const other = Buffer.from(file);
    other[file.length - 1] = (file.at(-1) ?? 0) ^ 1;
    assert.throws(() => parseImage(other, [digestOf(file)], wasm), /is not the one of this build/);
  });
  it("an image of another module is refused", () => {
    const other = Buffer.concat([wasm, Buffer.of(0)]);
    assert.throws(() => parseImage(file, [digestOf(file)], other), /is of another engine/);
  });
  it("no image is made of a module with a second global", () => {
    const twoGlobals = [6, 11, 2, 0x7f, 1, 0x41, 0, 0x0b, 0x7f, 1, 0x41, 0, 0x0b];
    const module = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...twoGlobals]);
    assert.throws(() => buildImage(module), /has 2 globals/);
  });
});

describe("the comparison with the image", () => {
  it("a new instance equals the image after its first reset", () => {
    assert.equal(findDifference(openInstance(), image), undefined);
  });
  it("the comparison finds one changed byte in every part of memory", () => {
    const instance = openInstance();
    const borders = [0, STATIC_BYTES, zeroedFrom, stackPointer, stackPointer + high.length, heapEnd, FIRST_BYTES];
    const pages = Array.from({ length: FIRST_BYTES / 65_536 }, (_, page) => page * 65_536 + 7);
    for (const address of [...borders.flatMap((border) => [border - 1, border]), ...pages]) {
      const before = instance.bytes[address];
      if (before === undefined) continue; // outside of memory
      instance.bytes[address] = before ^ 1;
      assert.equal(findDifference(instance, image), address);
      instance.bytes[address] = before;
    }
  });
});

describe("a reset", () => {
  it("a reset restores static data, the stack, the heap of the image, and zeroes the heap behind it", () => {
    const instance = openInstance();
    const block = instance.exports.malloc(3 * MEGABYTE);
    instance.bytes.fill(1, block, block + 3 * MEGABYTE);
    const changed = [0, STATIC_BYTES - 1, zeroedFrom, stackPointer - 1, stackPointer, stackPointer + high.length - 1];
    for (const address of changed) instance.bytes[address] = (instance.bytes[address] ?? 0) ^ 1;
    assert.ok(canReset(instance, image));
    reset(instance, image);
    assert.equal(findDifference(instance, image), undefined);
  });
});

describe("an instance that cannot be reset", () => {
  it("an instance whose stack pointer moved cannot be reset, and one whose stack pointer is back can", () => {
    const instance = openInstance();
    instance.exports.setStackPointer(stackPointer - 16);
    assert.equal(canReset(instance, image), false);
    instance.exports.setStackPointer(stackPointer);
    assert.equal(canReset(instance, image), true);
  });
  it("an instance with a byte in the guard below the stack cannot be reset, and one with a byte above it can", () => {
    const results = [zeroedFrom - GUARD_BYTES, zeroedFrom - 1, zeroedFrom].map((address) => {
      const instance = openInstance();
      instance.bytes[address] = 1;
      return canReset(instance, image);
    });
    assert.deepEqual(results, [false, false, true]);
  });
  it("an instance can be reset only if the end of its heap is between that of the image and that of memory", () => {
    const results = [heapEnd - 1, heapEnd, FIRST_BYTES, FIRST_BYTES + 1].map((end) => {
      const instance = openInstance();
      instance.bytes.writeUInt32LE(end, heapEndAt);
      return canReset(instance, image);
    });
    assert.deepEqual(results, [false, true, true, false]);
  });
  it("an instance that has grown cannot be reset, and one that used all of its first memory can", () => {
    const fits = FIRST_BYTES - heapEnd - MEGABYTE;
    const results = [fits, fits + 2 * MEGABYTE].map((size) => {
      const instance = openInstance();
      instance.setCeiling(64 * MEGABYTE);
      assert.notEqual(instance.exports.malloc(size), 0);
      return [instance.bytes.length > FIRST_BYTES, canReset(instance, image)];
    });
    assert.deepEqual(results, [
      [false, true],
      [true, false],
    ]);
  });
  it("an instance that was refused more memory cannot be reset", () => {
    const instance = openInstance();
    instance.setCeiling(0);
    assert.equal(instance.exports.malloc(FIRST_BYTES), 0);
    assert.deepEqual([instance.bytes.length, canReset(instance, image)], [FIRST_BYTES, false]);
  });
});

describe("the ceiling of memory", () => {
  it("memory grows up to the limit of the program and 8 MiB for the engine, and not a byte further", () => {
    const instance = openInstance();
    instance.setCeiling(32 * MEGABYTE);
    while (instance.exports.malloc(100_000) !== 0);
    assert.deepEqual([instance.bytes.length, instance.isFull], [40 * MEGABYTE, true]);
  });
  it("memory that is below its ceiling is not full", () => {
    const instance = openInstance();
    instance.setCeiling(32 * MEGABYTE);
    assert.notEqual(instance.exports.malloc(20 * MEGABYTE), 0);
    assert.deepEqual([instance.bytes.length < 40 * MEGABYTE, instance.isFull], [true, false]);
  });
});
