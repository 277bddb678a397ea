/** V8 isolates (isolated-vm) in a separate Node process. */

import { createRequire } from "node:module";
import { dirname } from "node:path";

import { GloveboxError } from "../../../domain/index.ts";
import type { Engine } from "../../engine.ts";
import { createNodeEngine } from "../engine-files.ts";

/**
 * isolated-vm needs a process without Node's startup snapshot. Node's heap is small because programs are not in it.
 * SIGUSR1 would open the inspector to any process that can send a signal. A fresh hash seed costs a tenth of an isolate's
 * creation and would only protect a program from slow lookups in its own data, within its limits.
 */
const FLAGS = [
  "--no-node-snapshot",
  "--no-rehash-snapshot",
  "--no-warnings",
  "--max-old-space-size=64",
  "--disable-sigusr1",
];

/** `node` is the executable of the gateway itself, so that the native module fits. */
export function createIsolateEngine(node: string): Engine {
  const engine = createNodeEngine("isolate", node, FLAGS, [{ from: findNative(), at: "/engine/isolated-vm.node" }]);
  return { ...engine, sealing: { makesThreads: true } };
}

/** The prebuilt module for this Node and platform; it ships inside the package, so nothing is compiled. */
function findNative(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve("isolated-vm/package.json");
    const { path }: { readonly path: (folder: string) => string } = createRequire(manifest)("node-gyp-build");
    return path(dirname(manifest));
  } catch (cause) {
    throw new GloveboxError("SANDBOX_UNAVAILABLE", "isolated-vm has no prebuilt module for this Node and platform", {
      cause,
      hint: 'Use Node 24 on linux-x64, linux-arm64, darwin-arm64 or win32-x64, or set sandbox.engine: "quickjs"',
    });
  }
}
