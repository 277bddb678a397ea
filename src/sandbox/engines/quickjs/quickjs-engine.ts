/** The engine without native code: QuickJS in WebAssembly, in a separate Node process. */

import type { Engine } from "../../engine.ts";
import { findBuilt } from "../../find-built.ts";
import { createNodeEngine } from "../engine-files.ts";

/**
 * Node's heap is small because programs are not in it. SIGUSR1 would open the inspector to any process that can send a
 * signal. The garbage collector runs after a program that used much memory. One thread beside the main one compiles the
 * engine's hot functions; more of them would take 3 MB each.
 */
const NODE_FLAGS = ["--no-warnings", "--max-old-space-size=64", "--disable-sigusr1", "--expose-gc", "--v8-pool-size=1"];
/** In kilobytes, of the 8 MB that a process has, so that QuickJS reaches the end of its own stack first. Windows has 1 MB. */
const FLAGS = process.platform === "win32" ? NODE_FLAGS : [...NODE_FLAGS, "--stack-size=3900"];

export const WASM_FILE = "quickjs.wasm";
/** The memory that programs start from; the build writes it beside the child. */
export const IMAGE_FILE = "quickjs.image";
/** The same, with functions that ask for another engine. */
export const GUARDED_IMAGE_FILE = "guarded.image";

/** A program takes about a millisecond, and a start as much as a hundred programs. */
const OVERLAP_MS = 20;

/** `node` is the executable of the gateway itself: there is always one. */
export function createQuickjsEngine(node: string, imageFile = IMAGE_FILE): Engine {
  const engine = createNodeEngine("quickjs", node, FLAGS, [
    { from: findBuilt("quickjs", WASM_FILE), at: "/engine/quickjs.wasm" },
    { from: findBuilt("quickjs", imageFile), at: "/engine/quickjs.image" },
  ]);
  return { ...engine, overlapMs: OVERLAP_MS, sealing: { makesThreads: false } };
}
