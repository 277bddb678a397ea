/**
 * QuickJS in WebAssembly: the functions that the module exports, and the few that it imports. All that a program can
 * change in an instance is its memory and one global, the stack pointer.
 */

const PAGE_BYTES = 64 * 1024;
/** The build needs this much from the start. */
export const FIRST_BYTES = 16 * 1024 * 1024;
/** The engine's stack, its tables and the guest's own code, beside what the program may hold. */
const OWN_BYTES = 8 * 1024 * 1024;
/** The build addresses no more. */
const MOST_BYTES = 2 ** 31;
/** The engine's own stack. It grows slower than that of the process, and must end first: see the flags of the engine. */
export const STACK_BYTES = 256 * 1024;
/** Growing in steps of a fifth saves most calls, and few pages are used in vain. */
const GROWTH = 1.2;
/** WASI's error for a function that does not exist. */
const NOT_SUPPORTED = 52;

/** The address of a value in the memory of an instance. It means nothing in another program. */
export type Handle = number;

/** The module's names for the functions of quickjs-emscripten's `interface.c`, version 0.32. */
const EXPORTS = {
  initialize: "v",
  malloc: "w",
  free: "N",
  newRuntime: "L",
  newContext: "O",
  setMaxStackSize: "E",
  enableInterrupts: "Ga",
  newFunction: "Ea",
  getArgument: "Fa",
  getUndefined: "F",
  getGlobal: "va",
  getProperty: "ia",
  newNumber: "Z",
  getNumber: "_",
  newString: "$",
  getString: "aa",
  freeString: "T",
  freeValue: "Q",
  typeOf: "sa",
  evaluate: "qa",
  call: "na",
  resolveException: "oa",
  runJobs: "ha",
  getStackPointer: "Pa",
  setStackPointer: "Na",
} as const;

export type QuickjsExports = Readonly<Record<keyof typeof EXPORTS, (...args: readonly number[]) => number>>;

/** Thrown instead of writing to address 0 when the instance has no room. */
export class MemoryExhausted extends Error {}

/** What the guest's host functions and its interrupts reach. Replaced for every program. */
export interface EngineHost {
  /** The guest called host function `id`. Returns a new value, or 0 for `undefined`. */
  call(id: number, args: Handle): Handle;
  /** Asked while a program computes. It must not throw: an exception would leave the stack pointer where it is. */
  shouldStop(): boolean;
  /** Asked before memory grows; must not throw. */
  mayGrow(): boolean;
}

/** Between programs nothing may run. */
export const NO_HOST: EngineHost = {
  call() {
    throw new TypeError("The realm is disposed of");
  },
  shouldStop: () => true,
  mayGrow: () => true,
};

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
 * One instance with its own memory. Its ceiling is outside of that memory; the engine's own limit is of no use, because
 * this build cannot ask its allocator for sizes and counts blocks instead of bytes.
 */
export class QuickjsInstance {
  readonly exports: QuickjsExports;
  readonly #memory = new WebAssembly.Memory({ initial: FIRST_BYTES / PAGE_BYTES, maximum: MOST_BYTES / PAGE_BYTES });
  #bytes = Buffer.from(this.#memory.buffer);
  #ceiling = FIRST_BYTES;
  #isFull = false;
  #hasRefused = false;
  host = NO_HOST;

  constructor(wasm: WasmModule) {
    const { exports } = new WebAssembly.Instance(wasm, { a: this.#createImports() });
    this.exports = parseExports(exports);
  }

  /** All memory. Growing replaces it. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The last request for more memory was over the ceiling. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Any request for more memory was over the ceiling. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** For a program that may hold `memoryBytes`. */
  setCeiling(memoryBytes: number): void {
    this.#ceiling = Math.min(Math.max(memoryBytes + OWN_BYTES, FIRST_BYTES), MOST_BYTES);
  }

  #grow(neededBytes: number): number {
    const sizeBytes = this.#bytes.length;
    const wantedBytes = Math.min(Math.max(neededBytes, sizeBytes * GROWTH), this.#ceiling);
    this.#isFull =
      !this.host.mayGrow() ||
      neededBytes > this.#ceiling ||
      !this.#addPages(Math.ceil((wantedBytes - sizeBytes) / PAGE_BYTES));
    this.#hasRefused ||= this.#isFull;
    return this.#isFull ? 0 : 1;
  }

  #addPages(pages: number): boolean {
    try {
      this.#memory.grow(pages);
    } catch {
      return false; // the process has no more
    }
    this.#bytes = Buffer.from(this.#memory.buffer);
    return true;
  }

  /** The engine has no clock, time zone, environment or files: a program gets time and randomness from the host. */
  #createImports(): object {
    const nothing = (): void => undefined;
    const refuse = (): number => NOT_SUPPORTED;
    const fail = (): never => {
      throw new TypeError("The engine stopped itself");
    };
    return {
      a: this.#memory,
      b: fail, // __assert_fail
      c: refuse, // fd_write
      d: refuse, // fd_close
      e: refuse, // environ_get
      f: refuse, // environ_sizes_get
      g: fail, // normalize_module
      h: fail, // load_module_source
      i: () => (this.host.shouldStop() ? 1 : 0),
      j: refuse, // setitimer
      k: (bytes: number) => this.#grow(bytes >>> 0),
      l: nothing, // runtime_keepalive_clear
      m: (_time: bigint, at: number) => void this.#bytes.fill(0, at, at + TM_BYTES), // localtime
      n: nothing, // tzset
      o: refuse, // fd_seek
      p: () => 0, // date_now
      q: (_clock: number, _precision: bigint, at: number) => (this.#bytes.fill(0, at, at + CLOCK_BYTES), 0), // clock_time_get
      r: fail, // abort
      s: fail, // proc_exit
      t: (...[, , , args, id]: HostCall) => this.host.call(id, args),
      u: nothing, // free_host_ref
    };
  }
}

/** Context, `this`, number of arguments, arguments, id of the function. */
type HostCall = readonly [number, Handle, number, Handle, number];

/** Sizes of `struct tm` and of a time of WASI. */
const TM_BYTES = 44;
const CLOCK_BYTES = 8;

function parseExports(exports: object): QuickjsExports {
  const named = Object.entries(EXPORTS).map(([name, short]): [string, unknown] => [name, Reflect.get(exports, short)]);
  const missing = named.filter(([, value]) => typeof value !== "function").map(([name]) => name);
  if (missing.length > 0) throw new TypeError(`The WebAssembly module has no ${missing.join(", ")}`);
  return Object.fromEntries(named) as QuickjsExports;
}
