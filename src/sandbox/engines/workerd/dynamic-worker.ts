/** What of the engine's Worker Loader is used, and the code that a Dynamic Worker is made of. */

import { GUEST_WORKER } from "../../guest.generated.ts";
import { WITHHELD, withholdImports } from "./withhold-imports.ts";

/** The functions of `guest/worker/worker.ts`, called from another isolate of the same process: text and numbers only. */
export interface GuestSession extends Disposable {
  feed(piece: string): Promise<void>;
  start(atMs: number): Promise<void>;
  deliver(kind: number, id: number, atMs: number): Promise<void>;
  collect(): Promise<string>;
}

/** The binding of a Worker that may load others. Loaded by this method a Worker has no name, and is never found again. */
export interface WorkerLoader {
  load(code: WorkerCode): LoadedWorker;
}

interface LoadedWorker {
  getEntrypoint(name: string): { open(none: null): Promise<GuestSession> };
}

/** The engine's own shape for the code and the powers of a Worker. */
export interface WorkerCode {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly mainModule: string;
  readonly modules: Readonly<Record<string, string | { readonly js: string }>>;
  readonly env: Readonly<Record<string, never>>;
  /** `null` takes the network away; left out, the parent's would be inherited. */
  readonly globalOutbound: null;
}

/**
 * Stands before the program, on its first line. The program's `this` is the global object, as in a script. A module can
 * be broken out of by a brace too many: what follows then runs in the same finished world, and finds nothing more.
 */
export const HEAD = `export default function (${WITHHELD}) { return async () => {"use strict";`;
const TAIL = "\n}; }";

/** Before this date the engine gives a Worker no modules of Node. */
const WORLD_DATE = "2023-01-01";
/** Lost rejections are told at the end of the turn, as in the other engines. The guest takes weak references away itself. */
const WORLD_FLAGS = ["rpc", "unhandled_rejection_after_microtask_checkpoint", "enable_weak_ref"];

/** A Worker for one program: without bindings and without a network. Throws `ImportRefused` where it would load more. */
export function toWorkerCode(javascript: string): WorkerCode {
  return {
    compatibilityDate: WORLD_DATE,
    compatibilityFlags: WORLD_FLAGS,
    mainModule: "guest.js",
    modules: { "guest.js": GUEST_WORKER, "program.ts": { js: withholdImports(`${HEAD}${javascript}${TAIL}`) } },
    env: {},
    globalOutbound: null,
  };
}
