/** Reads buffers and views through private copies of their getters, so that a forged property cannot mislead. */

import { Bytes, isView, uncurryGetter } from "../intrinsics.ts";

const typedArrayPrototype: object = Object.getPrototypeOf(Uint8Array.prototype);

const typedArrayBuffer = uncurryGetter<ArrayBuffer>(typedArrayPrototype, "buffer");
const typedArrayOffset = uncurryGetter<number>(typedArrayPrototype, "byteOffset");
const typedArrayBytes = uncurryGetter<number>(typedArrayPrototype, "byteLength");
const dataViewBuffer = uncurryGetter<ArrayBuffer>(DataView.prototype, "buffer");
const dataViewOffset = uncurryGetter<number>(DataView.prototype, "byteOffset");
const dataViewBytes = uncurryGetter<number>(DataView.prototype, "byteLength");

/** The element type's name ("Uint8Array") of a real typed array; `undefined` for everything else. */
export const typedArrayName = uncurryGetter<string>(typedArrayPrototype, Symbol.toStringTag);

/** The number of elements of a typed array. */
export const typedArrayLength = uncurryGetter<number>(typedArrayPrototype, "length");

/** The size of an ArrayBuffer; throws a TypeError for anything else. */
export const bufferBytes = uncurryGetter<number>(ArrayBuffer.prototype, "byteLength");

/** True for an ArrayBuffer, whatever its prototype says. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  try {
    return typeof value === "object" && value !== null && bufferBytes(value) !== undefined;
  } catch {
    return false;
  }
}

/** The part of its buffer that a view shows. */
interface Span {
  readonly buffer: ArrayBuffer;
  readonly offset: number;
  readonly bytes: number;
}

export function spanOf(view: ArrayBufferView): Span {
  const isTyped = typedArrayName(view) !== undefined;
  return {
    buffer: (isTyped ? typedArrayBuffer(view) : dataViewBuffer(view)) as ArrayBuffer,
    offset: (isTyped ? typedArrayOffset(view) : dataViewOffset(view)) as number,
    bytes: (isTyped ? typedArrayBytes(view) : dataViewBytes(view)) as number,
  };
}

/** The bytes behind a buffer or view, not copied; none for a detached one. Throws a TypeError for other values. */
export function bytesOf(source: unknown): Uint8Array {
  if (isView(source)) return openSpan(spanOf(source));
  if (!isBuffer(source)) throw new TypeError("Expected an ArrayBuffer or a view of one");
  return openSpan({ buffer: source, offset: 0, bytes: bufferBytes(source) ?? 0 });
}

/** A detached buffer allows no view, so an empty span does not touch it. */
function openSpan(span: Span): Uint8Array {
  return span.bytes === 0 ? new Bytes(0) : new Bytes(span.buffer, span.offset, span.bytes);
}

/** A view of the first bytes of an array, not copied. */
export function firstBytes(bytes: Uint8Array, count: number): Uint8Array {
  const { buffer, offset } = spanOf(bytes);
  return openSpan({ buffer, offset, bytes: count });
}
