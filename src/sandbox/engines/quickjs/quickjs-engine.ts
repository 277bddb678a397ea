/** The engine without native code: QuickJS in WebAssembly, in a Node process of its own. */

import { realpathSync } from "node:fs";
import { createRequire } from "node:module";

import { GloveboxError } from "../../../domain/index.ts";
import type { Engine } from "../../engine.ts";
import { CHILD_AT, NODE_AT, findChild, listFiles } from "../engine-files.ts";

/**
 * Node's heap is small because programs are not in it. SIGUSR1 would open the inspector to any process that can send a
 * signal. The garbage collector runs after a program that used much memory.
 */
const FLAGS = ["--no-warnings", "--max-old-space-size=64", "--disable-sigusr1", "--expose-gc"];
/** In kilobytes, of the 8 MB that a process has: so that QuickJS sees the end of its own stack first. Windows has 1 MB. */
const STACK_FLAGS = process.platform === "win32" ? [] : ["--stack-size=3900"];

const WASM_AT = "/engine/quickjs.wasm";

/** `node` is the executable of the gateway itself: there is always one. */
export function createQuickjsEngine(node: string): Engine {
  const wasm = findWasm();
  const child = findChild("quickjs");
  const flags = [...FLAGS, ...STACK_FLAGS];
  return {
    name: "quickjs",
    command: (usualMemoryBytes) => ({ file: node, args: [...flags, child, wasm, String(usualMemoryBytes)] }),
    contained:
      process.platform === "linux"
        ? {
            files: [...listFiles(node, child), { from: realpathSync(wasm), at: WASM_AT }],
            command: (usualMemoryBytes) => ({
              file: NODE_AT,
              args: [...flags, CHILD_AT, WASM_AT, String(usualMemoryBytes)],
            }),
          }
        : undefined,
  };
}

function findWasm(): string {
  try {
    return createRequire(import.meta.url).resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm");
  } catch (cause) {
    throw new GloveboxError("SANDBOX_UNAVAILABLE", "The package of QuickJS is not installed", {
      cause,
      hint: "Run `npm ci`",
    });
  }
}
