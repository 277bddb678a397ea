/** The default engine: V8 isolates (isolated-vm) in a Node process of their own. */

import { extname } from "node:path";
import { fileURLToPath } from "node:url";

import type { Engine } from "../../engine.ts";

/** isolated-vm needs a process without Node's own start-up snapshot. */
const FLAGS = ["--no-node-snapshot", "--no-warnings", "--max-old-space-size=64"];

/** `node` is the executable of the gateway itself, so that the native module fits. */
export function createIsolateEngine(node: string): Engine {
  const here = fileURLToPath(import.meta.url);
  const child = fileURLToPath(new URL(`./child${extname(here)}`, import.meta.url));
  return {
    name: "isolate",
    isolation: "process",
    command: (usualMemoryBytes) => ({ file: node, args: [...FLAGS, child, String(usualMemoryBytes)] }),
  };
}
