/** The entry of a child that runs programs in V8 isolates: `child.mjs NATIVE MEMORY SEAL`. */

import { serveChild } from "../serve-child.ts";
import { createIsolateRealm } from "./isolate-realm.ts";

/** Making an isolate takes about as long. */
const REST_MS = 2;

const [, , , memoryBytes, seal] = process.argv;
await serveChild(createIsolateRealm, { usualMemoryBytes: Number(memoryBytes), restMs: REST_MS, seal });
