/** The entry of a child that runs programs in QuickJS: `child.js WASM MEMORY`. */

import { readFileSync } from "node:fs";

import { serveChild } from "../serve-child.ts";
import { compileQuickjs } from "./load-quickjs.ts";
import { createQuickjsRealms } from "./quickjs-realm.ts";

const wasm = compileQuickjs(readFileSync(process.argv[2] ?? ""));
await serveChild(createQuickjsRealms(wasm), Number(process.argv[3]));
