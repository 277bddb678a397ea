/**
 * Makes the memory image that every QuickJS program starts from: starts the engine, evaluates the guest in it, and finds
 * out where the allocator keeps the end of the heap.
 */

import { ContextValues, SCRATCH_BYTES } from "../src/sandbox/engines/quickjs/context-values.ts";
import type { ContextRoots } from "../src/sandbox/engines/quickjs/context-values.ts";
import { HOST_FUNCTIONS, REQUEST_ENGINE, STATIC_BYTES, encodeImage } from "../src/sandbox/engines/quickjs/image.ts";
import { QuickjsInstance, STACK_BYTES, compileQuickjs } from "../src/sandbox/engines/quickjs/load-quickjs.ts";
import type { Handle, WasmModule } from "../src/sandbox/engines/quickjs/load-quickjs.ts";
import { GUEST_SOURCE } from "../src/sandbox/guest.generated.ts";
import { PROGRAM_FILE } from "../src/sandbox/wire.ts";
import { digestOf } from "../src/text/index.ts";

const GUEST_FILE = "guest.js";
const TAG_AT = 4;
const WORD_BYTES = 4;
/** Sizes of two blocks that the heap must grow for. */
const PROBES = [1_300_000, 2_900_000] as const;
/** The heap grows by less than this more than it needs. */
const SLACK_BYTES = 256 * 1024;

/**
 * The same guest and the same module always make the same file: nothing of the machine is in it. With `guarded`, functions
 * that differ from those of V8 ask for it first.
 */
export function buildImage(wasmBytes: Uint8Array, { guarded = false }: { readonly guarded?: boolean } = {}): Buffer {
  requireOneGlobal(wasmBytes);
  const wasm = compileQuickjs(wasmBytes);
  const { instance, ...addresses } = bootGuest(wasm, guarded);
  const { bytes, exports } = instance;
  const stackPointer = exports.getStackPointer();
  const heapEndAt = findHeapEnd(bootGuest(wasm, guarded).instance);
  const heapEnd = bytes.readUInt32LE(heapEndAt);
  bytes.fill(0, STATIC_BYTES, stackPointer);
  const highEnd = bytes.findLastIndex((byte) => byte !== 0) + 1;
  if (highEnd > heapEnd) throw new Error(`The heap ends at ${heapEnd}, but byte ${highEnd - 1} is used`);
  return encodeImage({
    wasmDigest: digestOf(wasmBytes),
    stackPointer,
    heapEndAt,
    heapEnd,
    ...addresses,
    low: bytes.subarray(0, STATIC_BYTES),
    high: bytes.subarray(stackPointer, highEnd),
  });
}

interface Booted {
  readonly instance: QuickjsInstance;
  readonly roots: ContextRoots;
  readonly start: Handle;
  readonly deliver: Handle;
}

function bootGuest(wasm: WasmModule, guarded: boolean): Booted {
  const instance = new QuickjsInstance(wasm);
  const { exports } = instance;
  instance.host = { call: () => 0, shouldStop: () => false, mayGrow: () => true };
  exports.initialize();
  const runtime = exports.newRuntime();
  exports.setMaxStackSize(runtime, STACK_BYTES);
  exports.enableInterrupts(runtime);
  const context = exports.newContext(runtime, 0);
  const newText = (text: string): number => {
    const at = exports.malloc(Buffer.byteLength(text) + 1);
    instance.bytes.write(`${text}\0`, at);
    return at;
  };
  const roots = findRoots(instance, runtime, context, newText);
  const values = new ContextValues(instance, roots);
  const getProperty = (target: Handle, key: string): Handle => values.getProperty(target, values.write(key));
  values.free(values.evaluate(GUEST_SOURCE, newText(GUEST_FILE)));
  const boot = getProperty(exports.getGlobal(context), "__boot");
  const held = HOST_FUNCTIONS.filter(({ id }) => guarded || id !== REQUEST_ENGINE);
  const functions = held.map(({ id, name, parameters }) =>
    exports.newFunction(context, newText(name), parameters, 0, id),
  );
  const guest = values.call(boot, functions);
  return { instance, roots, start: getProperty(guest, "start"), deliver: getProperty(guest, "deliver") };
}

function findRoots(
  { exports, bytes }: QuickjsInstance,
  runtime: number,
  context: number,
  newText: (text: string) => number,
): ContextRoots {
  const newString = (text: string): Handle => exports.newString(context, newText(text));
  const tagOf = (handle: Handle): number => bytes.readInt32LE(handle + TAG_AT);
  const json = exports.getProperty(context, exports.getGlobal(context), newString("JSON"));
  const lengthKey = newString("length");
  const throwing = "throw 1";
  const exception = exports.evaluate(context, newText(throwing), throwing.length, newText(GUEST_FILE), 0, 0);
  exports.freeValue(context, exports.resolveException(context, exception));
  return {
    runtime,
    context,
    undefined: exports.getUndefined(),
    stringify: exports.getProperty(context, json, newString("stringify")),
    lengthKey,
    scratch: exports.malloc(SCRATCH_BYTES),
    programFile: newText(PROGRAM_FILE),
    stringTag: tagOf(lengthKey),
    exceptionTag: tagOf(exception),
  };
}

/**
 * Returns the address of the word that holds the end of the heap. It is closely behind each block that the heap grew
 * for, and stays there when the blocks are freed. Exactly one word of static data does that.
 */
function findHeapEnd({ exports, bytes }: QuickjsInstance): number {
  const readWords = (): Uint32Array => new Uint32Array(bytes.buffer.slice(0, STATIC_BYTES));
  const seen = PROBES.map((size) => {
    const block = exports.malloc(size);
    return { block, blockEnd: block + size, words: readWords() };
  });
  for (const { block } of seen) exports.free(block);
  const after = readWords();
  const last = seen.at(-1)?.words;
  const isHeapEnd = (index: number): boolean =>
    after[index] === last?.[index] &&
    seen.every(({ blockEnd, words }) => {
      const behindBytes = (words[index] ?? 0) - blockEnd;
      return behindBytes >= 0 && behindBytes < SLACK_BYTES;
    });
  const found = [...after.keys()].filter(isHeapEnd);
  const [index] = found;
  if (index === undefined || found.length > 1) throw new Error(`${found.length} words look like the end of the heap`);
  return index * WORD_BYTES;
}

const HEADER_BYTES = 8;
const GLOBALS = 6;

/** A reset restores memory and one global. Refuses a module that keeps state in others. */
function requireOneGlobal(wasm: Uint8Array): void {
  let at = HEADER_BYTES;
  const readNumber = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < wasm.length) {
    const id = wasm[at++];
    const end = readNumber() + at;
    const count = id === GLOBALS ? readNumber() : 1;
    if (count !== 1) throw new Error(`The module has ${count} globals; the stack pointer must be the only one`);
    at = end;
  }
}
