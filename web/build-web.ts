/** Builds the admin page into a folder of static files. Runs in Node at build time; nothing of it is shipped. */

import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";

import { build } from "esbuild";

const SOURCE = import.meta.dirname;
const COPIED = ["index.html", "style.css", "icon.svg"];

/** Writes `index.html`, `main.js`, `style.css` and `icon.svg`; overwrites what is there, removes nothing. */
export async function buildWeb(outFolder: string): Promise<void> {
  await mkdir(outFolder, { recursive: true });
  await build({
    entryPoints: [join(SOURCE, "main.ts")],
    outfile: join(outFolder, "main.js"),
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    logLevel: "error",
  });
  await Promise.all(COPIED.map((name) => cp(join(SOURCE, name), join(outFolder, name))));
}
