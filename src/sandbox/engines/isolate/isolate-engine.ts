/** The default engine: V8 isolates (isolated-vm) in a Node process of their own. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { GloveboxError } from "../../../domain/index.ts";
import type { ContainedEngine, Engine, EngineFile } from "../../engine.ts";

/**
 * isolated-vm needs a process without Node's own start-up snapshot. Node's heap is small because programs do not live
 * in it. SIGUSR1 would open the inspector, a way in for whoever can send a signal.
 */
const FLAGS = ["--no-node-snapshot", "--no-warnings", "--max-old-space-size=64", "--disable-sigusr1"];

const NODE_AT = "/engine/node";
const CHILD_AT = "/engine/child.mjs";
const NATIVE_AT = "/engine/isolated-vm.node";

/** The child is one bundled file. From source it is the last build's: a confined root takes single files only. */
const CHILD_FILE = fileURLToPath(
  import.meta.url.endsWith(".ts")
    ? new URL("../../../../dist/sandbox/engines/isolate/child.js", import.meta.url)
    : new URL("./child.js", import.meta.url),
);

/** `node` is the executable of the gateway itself, so that the native module fits. */
export function createIsolateEngine(node: string): Engine {
  const native = findNative();
  if (!existsSync(CHILD_FILE)) {
    throw new GloveboxError("SANDBOX_UNAVAILABLE", "The sandbox child is not built", { hint: "Run `npm run build`" });
  }
  return {
    name: "isolate",
    command: (usualMemoryBytes) => ({ file: node, args: [...FLAGS, CHILD_FILE, native, String(usualMemoryBytes)] }),
    contained: process.platform === "linux" ? createContained(node, native) : undefined,
  };
}

function createContained(node: string, native: string): ContainedEngine {
  const files: readonly EngineFile[] = [
    { from: realpathSync(node), at: NODE_AT },
    { from: CHILD_FILE, at: CHILD_AT },
    { from: native, at: NATIVE_AT },
    ...listLibraries().map((library) => ({ from: realpathSync(library), at: library })),
  ];
  return {
    files,
    command: (usualMemoryBytes) => ({ file: NODE_AT, args: [...FLAGS, CHILD_AT, NATIVE_AT, String(usualMemoryBytes)] }),
  };
}

/** The shared libraries of this process: the same executable needs the same ones, and isolated-vm no others. */
function listLibraries(): readonly string[] {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  report.excludeNetwork = true; // looking up the names of network interfaces takes long and is of no use here
  const { sharedObjects } = report.getReport() as { readonly sharedObjects?: readonly string[] };
  return (sharedObjects ?? []).filter((library) => library.startsWith("/") && !library.endsWith(".node"));
}

/** The prebuilt module for this Node and platform; it ships inside the package, so nothing is compiled. */
function findNative(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve("isolated-vm/package.json");
    const locate = createRequire(manifest)("node-gyp-build") as { path(folder: string): string };
    return locate.path(dirname(manifest));
  } catch (cause) {
    throw new GloveboxError("SANDBOX_UNAVAILABLE", "isolated-vm has no prebuilt module for this Node and platform", {
      cause,
      hint: "Use Node 24 on linux-x64, linux-arm64, darwin-arm64 or win32-x64",
    });
  }
}
