/** The entry of a child that runs programs in QuickJS: `child.mjs WASM IMAGE MEMORY SEAL`. */

import { readFileSync } from "node:fs";

import { serveChild } from "../serve-child.ts";
import { parseImage } from "./image.ts";
import { QuickjsInstance, compileQuickjs } from "./load-quickjs.ts";
import { createQuickjsRealms } from "./quickjs-realm.ts";
import { rehearse } from "./rehearse.ts";

/** The build replaces this by the digests of the images that it made. */
declare const QUICKJS_IMAGE_DIGESTS: readonly string[];

const [, , wasmFile = "", imageFile = "", memoryBytes, seal] = process.argv;
const bytes = readFileSync(wasmFile);
const image = parseImage(readFileSync(imageFile), QUICKJS_IMAGE_DIGESTS, bytes);
const wasm = compileQuickjs(bytes);
const createRealm = createQuickjsRealms(image, () => new QuickjsInstance(wasm));
await rehearse(createRealm);
/** A reset takes less time than a rest. */
await serveChild(createRealm, { usualMemoryBytes: Number(memoryBytes), restMs: 0, seal });
