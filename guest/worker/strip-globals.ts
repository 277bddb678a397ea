/**
 * Removes every global of a Worker that is not part of the language; the guest adds its own. The names in the list stay,
 * so that what a later engine adds is removed too.
 */

import { getPrototypeOf, ownKeys } from "../intrinsics.ts";

const KEPT: readonly PropertyKey[] = [
  "AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date",
  "DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array",
  "Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set",
  "String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray",
  "WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN",
  "parseFloat parseInt undefined unescape",
].flatMap((line) => line.split(" "));

/** Throws if a global cannot be removed: no program may run with unknown globals. */
export function stripGlobals(): void {
  Object.setPrototypeOf(globalThis, Object.prototype);
  const isForeign = (key: PropertyKey): boolean => !KEPT.includes(key);
  for (const key of ownKeys(globalThis).filter(isForeign)) Reflect.deleteProperty(globalThis, key);
  const left = ownKeys(globalThis).filter(isForeign);
  if (left.length > 0 || getPrototypeOf(globalThis) !== Object.prototype) {
    throw new TypeError("Globals cannot be removed: " + left.map(String).join());
  }
}
