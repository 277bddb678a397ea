/**
 * The state of an instance before its program: memory, stack pointer and the addresses of the guest's functions. It is
 * made once, by the build, and every program starts from it.
 *
 * Memory is, from address 0: static data, the stack (which grows down from the stack pointer), the heap. Bytes that the
 * image does not have are zero.
 */

import { digestOf } from "../../../text/index.ts";
import type { ContextRoots } from "./context-values.ts";
import { FIRST_BYTES, STACK_BYTES } from "./load-quickjs.ts";
import type { Handle, QuickjsInstance } from "./load-quickjs.ts";

/** Static data ends before this address; the lowest bytes of the stack, which nothing reaches, are behind it. */
export const STATIC_BYTES = 128 * 1024;
/** Zeroed below the stack pointer: what the engine's stack may use, and as much again for native code on top of it. */
export const STACK_ZEROED_BYTES = 2 * STACK_BYTES;
/** Below that. A program that touched it went deeper than any should. */
export const GUARD_BYTES = 64 * 1024;
const ZEROS = Buffer.alloc(GUARD_BYTES);

const LENGTH_BYTES = 4;

/** The functions that the guest of the image holds, by their ids. */
export const SEND = 1;
export const PARSE_URL = 2;
export const SET_URL_PART = 3;
/** Only the guest of the guarded image holds it. */
export const REQUEST_ENGINE = 4;
export const HOST_FUNCTIONS = [
  { id: SEND, name: "send", parameters: 3 },
  { id: PARSE_URL, name: "parse", parameters: 2 },
  { id: SET_URL_PART, name: "set", parameters: 3 },
  { id: REQUEST_ENGINE, name: "request", parameters: 1 },
] as const;

export interface ImageHead {
  /** The SHA-256 digest of the WebAssembly module that the image fits. */
  readonly wasmDigest: string;
  readonly stackPointer: number;
  /** Where the allocator keeps the end of the heap, and that end. It never moves down. */
  readonly heapEndAt: number;
  readonly heapEnd: number;
  readonly roots: ContextRoots;
  /** The guest's functions. */
  readonly start: Handle;
  readonly deliver: Handle;
}

export interface Image extends ImageHead {
  /** Memory from 0 to `STATIC_BYTES`. */
  readonly low: Buffer;
  /** Memory from the stack pointer upward, to the last byte that is not zero. */
  readonly high: Buffer;
}

/** As a file: the length of the head, the head as JSON, `low`, `high`. */
export function encodeImage({ low, high, ...head }: Image): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const size = Buffer.alloc(LENGTH_BYTES);
  size.writeUInt32LE(text.length);
  return Buffer.concat([size, text, low, high]);
}

/** Throws unless the file has one of these digests and fits the module. */
export function parseImage(file: Buffer, digests: readonly string[], wasm: Uint8Array): Image {
  if (!digests.includes(digestOf(file)))
    throw new TypeError("The memory image of QuickJS is not the one of this build");
  const lowAt = LENGTH_BYTES + file.readUInt32LE(0);
  const head = trustHead(file.toString("utf8", LENGTH_BYTES, lowAt));
  if (digestOf(wasm) !== head.wasmDigest) throw new TypeError("The memory image of QuickJS is of another engine");
  const highAt = lowAt + STATIC_BYTES;
  return { ...head, low: file.subarray(lowAt, highAt), high: file.subarray(highAt) };
}

/** The digest has shown that our own build wrote it. */
function trustHead(text: string): ImageHead {
  return JSON.parse(text) as ImageHead;
}

/**
 * Whether a reset would restore everything. Memory that has grown cannot shrink. A stack pointer somewhere else is left
 * by an exception that passed through the engine's frames. A heap end that went down was not written by the allocator.
 */
export function canReset(instance: QuickjsInstance, image: Image): boolean {
  const { bytes } = instance;
  if (instance.hasRefused || bytes.length !== FIRST_BYTES) return false;
  if (instance.exports.getStackPointer() !== image.stackPointer) return false;
  const heapEnd = bytes.readUInt32LE(image.heapEndAt);
  if (heapEnd < image.heapEnd || heapEnd > bytes.length) return false;
  const guardEnd = image.stackPointer - STACK_ZEROED_BYTES;
  return isZero(bytes, guardEnd - GUARD_BYTES, guardEnd);
}

/** For an instance that is new, or that `canReset`. Only the heap that the last program used has to be zeroed. */
export function reset(instance: QuickjsInstance, image: Image): void {
  const { bytes } = instance;
  const { stackPointer, high } = image;
  const heapEnd = bytes.readUInt32LE(image.heapEndAt);
  bytes.fill(0, stackPointer - STACK_ZEROED_BYTES, stackPointer);
  bytes.fill(0, stackPointer + high.length, Math.max(stackPointer + high.length, heapEnd));
  bytes.set(image.low, 0);
  bytes.set(high, stackPointer);
  instance.exports.setStackPointer(stackPointer);
}

/** The address of a byte that is not as in the image; looks at all memory. */
export function findDifference({ bytes }: QuickjsInstance, { low, high, stackPointer }: Image): number | undefined {
  const highEnd = stackPointer + high.length;
  return (
    findOther(bytes, 0, low) ??
    findNonZero(bytes, STATIC_BYTES, stackPointer) ??
    findOther(bytes, stackPointer, high) ??
    findNonZero(bytes, highEnd, bytes.length)
  );
}

function findOther(bytes: Buffer, from: number, expected: Buffer): number | undefined {
  if (bytes.compare(expected, 0, expected.length, from, from + expected.length) === 0) return undefined;
  return from + expected.findIndex((byte, index) => bytes[from + index] !== byte);
}

function findNonZero(bytes: Buffer, from: number, end: number): number | undefined {
  for (let at = from; at < end; at += ZEROS.length) {
    const until = Math.min(at + ZEROS.length, end);
    if (!isZero(bytes, at, until)) return at + bytes.subarray(at, until).findIndex((byte) => byte !== 0);
  }
  return undefined;
}

function isZero(bytes: Buffer, from: number, end: number): boolean {
  return bytes.compare(ZEROS, 0, end - from, from, end) === 0;
}
