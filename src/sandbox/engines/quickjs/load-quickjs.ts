/**
 * One instance of QuickJS in WebAssembly for one program: its own memory with a ceiling, runtime and context.
 * A program that corrupts the memory of its instance corrupts nothing that the next program sees.
 */

import packaged from "@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-ng-wasmfile-release-sync/ffi";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
import type {
  EmscriptenModuleLoader,
  QuickJSContext,
  QuickJSEmscriptenModule,
  QuickJSRuntime,
  QuickJSSyncVariant,
} from "quickjs-emscripten-core";

/** The package declares the types of its CommonJS form; a bundle imports the function itself. */
const loadModule = trustLoader(packaged);

const PAGE_BYTES = 64 * 1024;
/** The build needs this much from the start. */
export const FIRST_BYTES = 16 * 1024 * 1024;
/** The engine's stack, its tables and the guest's own code, beside what the program may hold. */
const OWN_BYTES = 8 * 1024 * 1024;
/** The build addresses no more. */
const MOST_BYTES = 2 ** 31;
/** The engine's own stack. It grows slower than that of the process, and must end first: see the flags of the engine. */
const STACK_BYTES = 256 * 1024;

export interface QuickjsInstance {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  /** What the instance has taken from the process; it never gives any back. */
  readonly sizeBytes: number;
  /** The instance asked for more than its ceiling, and was refused. */
  readonly isFull: boolean;
}

/** Thrown instead of writing to address 0 when the instance has no room for a string of the host. */
export class MemoryExhausted extends Error {}

/** The part of WebAssembly that is used here; Node has it, its type declarations do not. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: object };
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory;
};

/** Compiled once in a child; instances of it share nothing. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: "WebAssembly.Module";
}

/** Compiles the engine itself, never data of a program. */
export function compileQuickjs(bytes: Uint8Array): WasmModule {
  return new WebAssembly.Module(bytes);
}

/**
 * A context in which nothing has run yet. Its memory has a ceiling that the engine cannot lift; the engine's own limit
 * is of no use, because this build cannot ask its allocator for sizes and counts blocks instead of bytes.
 */
export async function loadQuickjs(wasm: WasmModule, memoryBytes: number): Promise<QuickjsInstance> {
  const most = Math.min(Math.max(memoryBytes + OWN_BYTES, FIRST_BYTES), MOST_BYTES);
  const memory = new WebAssembly.Memory({ initial: FIRST_BYTES / PAGE_BYTES, maximum: Math.floor(most / PAGE_BYTES) });
  let isFull = false;
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    isFull = true; // the next line throws if it is
    const before = grow(pages);
    isFull = false;
    return before;
  };
  const quickjs = await newQuickJSWASMModuleFromVariant(createVariant(wasm, memory));
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(STACK_BYTES);
  const context = runtime.newContext();
  return {
    runtime,
    context,
    get sizeBytes() {
      return memory.buffer.byteLength;
    },
    get isFull() {
      return isFull;
    },
  };
}

function trustLoader(loader: unknown): EmscriptenModuleLoader<QuickJSEmscriptenModule> {
  return loader as EmscriptenModuleLoader<QuickJSEmscriptenModule>;
}

function createVariant(wasm: WasmModule, wasmMemory: WasmMemory): QuickJSSyncVariant {
  const silent = (): void => undefined;
  const options = {
    wasmMemory,
    print: silent,
    printErr: silent,
    instantiateWasm(imports: object, done: (instance: object) => void): object {
      const instance = new WebAssembly.Instance(wasm, imports);
      done(instance);
      return instance.exports;
    },
  };
  const load = async (): Promise<QuickJSEmscriptenModule> => refuseNull(await loadModule(options));
  return { type: "sync", importFFI: async () => QuickJSFFI, importModuleLoader: async () => load };
}

/** The library takes every result of the allocator for an address; 0 means that there was no room. */
function refuseNull(module: QuickJSEmscriptenModule): QuickJSEmscriptenModule {
  const allocate = module._malloc.bind(module);
  module._malloc = (bytes) => {
    const address = allocate(bytes);
    if (address === 0) throw new MemoryExhausted("The instance is full");
    return address;
  };
  return module;
}
