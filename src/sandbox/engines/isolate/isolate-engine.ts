/** V8 isolates (isolated-vm) in a separate Node process. */

import type { Engine } from "../../engine.ts";
import { createNodeEngine } from "../engine-files.ts";
import type { NodeForV8 } from "./find-node.ts";

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

export function createIsolateEngine({ node, native }: NodeForV8): Engine {
  const engine = createNodeEngine("isolate", node, FLAGS, [{ from: native, at: "/engine/isolated-vm.node" }]);
  return { ...engine, sealing: { makesThreads: true } };
}
