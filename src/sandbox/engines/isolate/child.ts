/** The entry of a child that runs programs in V8 isolates: `child.js NATIVE MEMORY`. */

import { serveChild } from "../serve-child.ts";
import { createIsolateRealm } from "./isolate-realm.ts";

/** Making an isolate takes about as long. */
const REST_MS = 2;

await serveChild(createIsolateRealm, Number(process.argv[3]), REST_MS);
