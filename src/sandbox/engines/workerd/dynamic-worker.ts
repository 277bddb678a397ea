/** The used part of the engine's Worker Loader, and the code of a Dynamic Worker. */

import { GUEST_WORKER } from "../../guest.generated.ts";
import { WITHHELD, withholdImports } from "./withhold-imports.ts";

/** The functions of `guest/worker/worker.ts`, called from another isolate of the same process: strings and numbers only. */
export interface GuestSession extends Disposable {
  feed(piece: string): Promise<void>;
  start(atMs: number): Promise<void>;
  deliver(kind: number, id: number, atMs: number): Promise<void>;
  collect(): Promise<string>;
}

/** The binding of a Worker that may load others. A Worker that this method loads has no name and is never found again. */
export interface WorkerLoader {
  load(code: WorkerCode): { getEntrypoint(name: string): { open(none: null): Promise<GuestSession> } };
}

/** The engine's own shape for the code and the powers of a Worker. */
interface WorkerCode {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly mainModule: string;
  readonly modules: Readonly<Record<string, string | { readonly js: string }>>;
  readonly env: Readonly<Record<string, never>>;
  /** `null` removes the network; by default the parent's would be inherited. */
  readonly globalOutbound: null;
}

/**
 * Precedes the program on its first line. The program's `this` is the global object, as in a script. A closing brace too
 * many leaves the function: what follows then runs in the same realm after its lockdown, and reaches nothing more.
 */
export const HEAD = `export default function (${WITHHELD}) { return async () => {"use strict";`;
const TAIL = "\n}; }";

/** Before this date the engine gives a Worker no modules of Node. */
const WORLD_DATE = "2023-01-01";
/** Unhandled rejections are reported at the end of the turn, as in the other engines. The guest removes weak references. */
const WORLD_FLAGS = ["rpc", "unhandled_rejection_after_microtask_checkpoint", "enable_weak_ref"];

/** A Worker for one program, without bindings and network. Throws `ImportRefused` if the program would load modules. */
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
