/** The entry of a child that runs programs in V8 isolates: `child.js NATIVE MEMORY`. */

import { serveChild } from "../serve-child.ts";
import { createIsolateRealm } from "./isolate-realm.ts";

await serveChild(createIsolateRealm, Number(process.argv[3]));
