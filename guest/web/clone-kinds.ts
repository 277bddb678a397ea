/**
 * The built-in kinds of objects that `structuredClone` copies by their internal state, not by their properties.
 * A kind is recognized by a probe: a private copy of a built-in that throws for objects of another kind.
 */

import { bufferBytes } from "./buffer-source.ts";
import type { List } from "./intrinsics.ts";
import {
  add,
  createList,
  construct,
  each,
  MapCopy,
  mapForEach,
  mapSet,
  SetCopy,
  setAdd,
  setForEach,
  uncurry,
  uncurryGetter,
} from "./intrinsics.ts";
import { createNamedError } from "./named-error.ts";

/** One running clone, as the kinds see it. */
export interface Cloning {
  /** The copy of a value; that of an object may still be empty. Never recurses. */
  readonly copy: (value: unknown) => unknown;
  /** Puts off what fills a copy until the present object is done. */
  readonly later: (fill: () => void) => void;
}

/** How objects of one kind are recognized and copied. */
export interface Kind {
  readonly tag: string;
  readonly probe: (source: object) => unknown;
  readonly copy: (source: object, cloning: Cloning) => object;
}

const ObjectCopy: ObjectConstructor = Object;
const BufferCopy: ArrayBufferConstructor = ArrayBuffer;
const Bytes: Uint8ArrayConstructor = Uint8Array;
const DateCopy: DateConstructor = Date;
const RegExpCopy: RegExpConstructor = RegExp;

const getTime = uncurry<object, [], number>(Date.prototype.getTime);
const isResizable = uncurryGetter<boolean>(ArrayBuffer.prototype, "resizable");
const isDetached = uncurryGetter<boolean>(ArrayBuffer.prototype, "detached");
const maxBytes = uncurryGetter<number>(ArrayBuffer.prototype, "maxByteLength");
const setBytes = uncurry<Uint8Array, [Uint8Array], void>(Uint8Array.prototype.set);

const KINDS: List<Kind> = createList();
add(KINDS, { tag: "[object Date]", probe: getTime, copy: (source) => new DateCopy(getTime(source)) });
add(KINDS, { tag: "[object Map]", probe: uncurryGetter(Map.prototype, "size"), copy: copyMap });
add(KINDS, { tag: "[object Set]", probe: uncurryGetter(Set.prototype, "size"), copy: copySet });
add(KINDS, { tag: "[object RegExp]", probe: uncurryGetter(RegExp.prototype, "source"), copy: copyRegExp });
add(KINDS, { tag: "[object ArrayBuffer]", probe: bufferBytes, copy: copyBuffer });
add(KINDS, boxed("[object Boolean]", Boolean.prototype.valueOf));
add(KINDS, boxed("[object Number]", Number.prototype.valueOf));
add(KINDS, boxed("[object String]", String.prototype.valueOf));
add(KINDS, boxed("[object BigInt]", BigInt.prototype.valueOf));

/**
 * The kind of an object, or `undefined` for objects that are copied by their properties.
 * `tag` is what `Object.prototype.toString` says: a hint that saves trying all probes, never a proof.
 */
export function findKind(source: object, tag: string): Kind | undefined {
  let found: Kind | undefined;
  each(KINDS, (kind) => {
    if (kind.tag === tag && passes(kind, source)) found = kind;
  });
  if (found !== undefined) return found;
  each(KINDS, (kind) => {
    if (found === undefined && kind.tag !== tag && passes(kind, source)) found = kind;
  });
  return found;
}

function passes(kind: Kind, source: object): boolean {
  try {
    kind.probe(source);
    return true;
  } catch {
    return false;
  }
}

function boxed(tag: string, valueOf: () => unknown): Kind {
  const unbox = uncurry<object, [], unknown>(valueOf);
  return { tag, probe: unbox, copy: (source) => ObjectCopy(unbox(source)) };
}

function copyMap(source: object, { copy, later }: Cloning): object {
  const target = new MapCopy();
  const entries: List<{ readonly key: unknown; readonly value: unknown }> = createList();
  mapForEach(source, (value, key) => add(entries, { key, value }));
  later(() => each(entries, ({ key, value }) => mapSet(target, copy(key), copy(value))));
  return target;
}

function copySet(source: object, { copy, later }: Cloning): object {
  const target = new SetCopy();
  const members: List<{ readonly value: unknown }> = createList();
  setForEach(source, (value) => add(members, { value }));
  later(() => each(members, ({ value }) => setAdd(target, copy(value))));
  return target;
}

/** A pattern given as an object keeps its own source and flags, whatever its properties claim. `lastIndex` starts at 0. */
function copyRegExp(source: object): object {
  return construct(RegExpCopy, [source]);
}

/** Copies the bytes; a buffer that can be resized stays so. A detached one has nothing left to copy. */
function copyBuffer(source: object): object {
  if (isDetached(source)) throw createNamedError("DataCloneError", "A detached ArrayBuffer could not be cloned");
  const bytes = bufferBytes(source) ?? 0;
  const copy = isResizable(source) ? createResizable(bytes, maxBytes(source) ?? bytes) : new BufferCopy(bytes);
  setBytes(new Bytes(copy), construct(Bytes, [source]));
  return copy;
}

function createResizable(bytes: number, maxByteLength: number): ArrayBuffer {
  const options = { __proto__: null, maxByteLength };
  return new BufferCopy(bytes, options);
}
