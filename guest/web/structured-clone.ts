/**
 * `structuredClone`, following the HTML standard for what exists inside the isolate.
 * Works through a list of open objects instead of recursing, so depth costs no stack.
 */

import {
  Bytes,
  RealMap,
  RealSet,
  add,
  construct,
  createList,
  dateGetTime,
  defineOwn,
  each,
  get,
  getOwnPropertyDescriptor,
  hasOwn,
  isArray,
  isView,
  keys,
  mapForEach,
  mapGet,
  mapSet,
  objectToString,
  set,
  setAdd,
  setForEach,
  toDomString,
  uncurry,
  uncurryGetter,
} from "../intrinsics.ts";
import type { List } from "../intrinsics.ts";
import { bufferBytes, spanOf, typedArrayLength, typedArrayName } from "./buffer-source.ts";
import { findRefusal } from "./clone-refusals.ts";
import { createNamedError } from "./named-error.ts";

/** Errors of other names become plain `Error`s, as the standard asks. */
const ERRORS = collectConstructors("Error EvalError RangeError ReferenceError SyntaxError TypeError URIError");
const VIEWS = collectConstructors(
  "Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array " +
    "Float16Array Float32Array Float64Array BigInt64Array BigUint64Array DataView",
);
const RealObject = Object;
const RealBuffer = ArrayBuffer;
const RealDate = Date;
const RealRegExp = RegExp;
const nativeIsError: unknown = Reflect.get(Error, "isError");
const isResizable = uncurryGetter<boolean>(ArrayBuffer.prototype, "resizable");
const isDetached = uncurryGetter<boolean>(ArrayBuffer.prototype, "detached");
const maxBytes = uncurryGetter<number>(ArrayBuffer.prototype, "maxByteLength");
const setBytes = uncurry<Uint8Array, [Uint8Array], void>(Uint8Array.prototype.set);

/** One running clone. */
interface Cloning {
  /** The copy of a value; that of an object may still be empty. Never recurses. */
  readonly copy: (value: unknown) => unknown;
  /** Delays filling a copy until the present object is done. */
  readonly later: (fill: () => void) => void;
}

/**
 * A built-in kind of objects that is copied by its internal state, not by its properties. The probe recognizes it: a
 * private copy of a built-in that throws for objects of another kind.
 */
interface Kind {
  readonly tag: string;
  readonly probe: (source: object) => unknown;
  readonly copy: (source: object, cloning: Cloning) => object;
}

const KINDS: List<Kind> = createList();
add(KINDS, { tag: "[object Date]", probe: dateGetTime, copy: (source) => new RealDate(dateGetTime(source)) });
add(KINDS, { tag: "[object Map]", probe: uncurryGetter(Map.prototype, "size"), copy: copyMap });
add(KINDS, { tag: "[object Set]", probe: uncurryGetter(Set.prototype, "size"), copy: copySet });
// The copy keeps the source and the flags, whatever the properties claim; `lastIndex` starts at 0.
add(KINDS, {
  tag: "[object RegExp]",
  probe: uncurryGetter(RegExp.prototype, "source"),
  copy: (source) => construct(RealRegExp, [source]),
});
add(KINDS, { tag: "[object ArrayBuffer]", probe: bufferBytes, copy: copyBuffer });
add(KINDS, boxed("[object Boolean]", Boolean.prototype.valueOf));
add(KINDS, boxed("[object Number]", Number.prototype.valueOf));
add(KINDS, boxed("[object String]", String.prototype.valueOf));
add(KINDS, boxed("[object BigInt]", BigInt.prototype.valueOf));

/**
 * A deep copy with circular and shared references kept. Prototypes of class instances are lost.
 * Functions, symbols and objects with hidden state are refused with a `DataCloneError`; so is `transfer`.
 */
export function structuredClone<Value>(value: Value, options?: { readonly transfer?: unknown }): Value;
export function structuredClone(value: unknown, options?: { readonly transfer?: unknown }): unknown {
  if (hasTransfer(options)) throw createNamedError("DataCloneError", "Transfer is not supported; clone without it");
  const copies = new RealMap();
  const open: List<() => void> = createList();
  const cloning: Cloning = { copy, later: (fill) => add(open, fill) };

  function copy(item: unknown): unknown {
    if (typeof item === "function" || typeof item === "symbol") throw refuse(typeof item);
    if (typeof item !== "object" || item === null) return item;
    const known = mapGet(copies, item);
    if (known !== undefined) return known;
    const begun = begin(item, cloning);
    mapSet(copies, item, begun);
    return begun;
  }

  const result = copy(value);
  while (open.length > 0) {
    const fill = open[open.length - 1];
    open.length -= 1;
    fill?.();
  }
  return result;
}

function hasTransfer(options: { readonly transfer?: unknown } | undefined): boolean {
  const transfer = options?.transfer;
  return transfer !== undefined && !(isArray(transfer) && transfer.length === 0);
}

/** Makes the copy of an object and leaves what needs other copies for later. */
function begin(source: object, cloning: Cloning): object {
  if (isArray(source)) return beginArray(source, cloning);
  if (isError(source)) return beginError(source, cloning);
  if (isView(source)) return copyView(source, cloning);
  const tag = objectToString(source);
  if (tag === "[object Object]") return beginPlain(source, cloning);
  if (tag === "[object Arguments]") throw refuse("arguments object");
  const refusal = findRefusal(source);
  if (refusal !== undefined) throw refuse(refusal);
  return findKind(source, tag)?.copy(source, cloning) ?? beginPlain(source, cloning);
}

function beginPlain(source: object, cloning: Cloning, target: object = {}): object {
  cloning.later(() => fillProperties(source, target, cloning));
  return target;
}

/** Keeps holes, and properties beside the elements. */
function beginArray(source: readonly unknown[], cloning: Cloning): object {
  const target: unknown[] = [];
  target.length = source.length;
  return beginPlain(source, cloning, target);
}

/** A getter may remove properties that come after it, so each is looked for again. */
function fillProperties(source: object, target: object, cloning: Cloning): void {
  const names = keys(source);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    if (!hasOwn(source, name)) continue;
    const value = cloning.copy(get(source, name));
    // An inherited name (`__proto__`, or one that the program put on a prototype) must not meet a setter.
    if (name in target) defineOwn(target, name, value, true);
    else set(target, name, value);
  }
}

/** Keeps name, message, stack and cause. The cause waits, because chains of causes can be long. */
function beginError(source: object, cloning: Cloning): object {
  const name: unknown = get(source, "name");
  const target = create(mapGet(ERRORS, name) ?? mapGet(ERRORS, "Error"), []);
  const message = ownValue(source, "message");
  if (message !== undefined) defineOwn(target, "message", toDomString(message.value), false);
  const stack: unknown = get(source, "stack");
  if (typeof stack === "string") defineOwn(target, "stack", stack, false);
  const cause = ownValue(source, "cause");
  if (cause !== undefined) cloning.later(() => defineOwn(target, "cause", cloning.copy(cause.value), false));
  return target;
}

/** A view of the copied buffer, which views of the same buffer share. */
function copyView(source: ArrayBufferView, cloning: Cloning): object {
  const { buffer, offset, bytes } = spanOf(source);
  const name = typedArrayName(source);
  const length = name === undefined ? bytes : typedArrayLength(source);
  return create(mapGet(VIEWS, name ?? "DataView"), [cloning.copy(buffer), offset, length]);
}

function isError(value: object): boolean {
  if (typeof nativeIsError === "function") return nativeIsError(value) === true;
  return objectToString(value) === "[object Error]";
}

function refuse(kind: string): Error {
  return createNamedError("DataCloneError", "A value of kind " + kind + " could not be cloned");
}

function ownValue(source: object, name: string): { readonly value: unknown } | undefined {
  const descriptor = getOwnPropertyDescriptor(source, name);
  return descriptor !== undefined && hasOwn(descriptor, "value") ? { value: descriptor.value } : undefined;
}

function create(constructor: unknown, args: readonly unknown[]): object {
  if (typeof constructor !== "function") throw refuse("unknown view");
  return construct(constructor, args);
}

/**
 * The kind of an object, or `undefined` for objects that are copied by their properties. The tag is a hint that saves
 * probes, not a proof.
 */
function findKind(source: object, tag: string): Kind | undefined {
  let found: Kind | undefined;
  const probe = (kind: Kind): void => {
    if (found !== undefined) return;
    try {
      kind.probe(source);
      found = kind;
    } catch {
      // The object is of another kind.
    }
  };
  each(KINDS, (kind) => kind.tag === tag && probe(kind));
  each(KINDS, probe);
  return found;
}

function boxed(tag: string, valueOf: () => unknown): Kind {
  const unbox = uncurry<object, [], unknown>(valueOf);
  return { tag, probe: unbox, copy: (source) => RealObject(unbox(source)) };
}

function copyMap(source: object, { copy, later }: Cloning): object {
  const target = new RealMap();
  const entries: List<{ readonly key: unknown; readonly value: unknown }> = createList();
  mapForEach(source, (value, key) => add(entries, { key, value }));
  later(() => each(entries, ({ key, value }) => mapSet(target, copy(key), copy(value))));
  return target;
}

function copySet(source: object, { copy, later }: Cloning): object {
  const target = new RealSet();
  const members: List<{ readonly value: unknown }> = createList();
  setForEach(source, (value) => add(members, { value }));
  later(() => each(members, ({ value }) => setAdd(target, copy(value))));
  return target;
}

/** A resizable buffer stays resizable. A detached one has nothing left to copy. */
function copyBuffer(source: object): object {
  if (isDetached(source)) throw createNamedError("DataCloneError", "A detached ArrayBuffer could not be cloned");
  const bytes = bufferBytes(source) ?? 0;
  const options = { __proto__: null, maxByteLength: maxBytes(source) ?? bytes };
  const copy = isResizable(source) ? new RealBuffer(bytes, options) : new RealBuffer(bytes);
  setBytes(new Bytes(copy), construct(Bytes, [source]));
  return copy;
}

/** By name, as far as this engine has them. */
function collectConstructors(names: string): Map<unknown, unknown> {
  return new Map(names.split(" ").map((name) => [name, Reflect.get(globalThis, name)]));
}
