/** Builds the admin page into a folder of static files. Runs in Node at build time; nothing of it is shipped. */

import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { build } from "esbuild";
import type { BuildOptions, Plugin } from "esbuild";

import { buildStyles } from "./build-styles.ts";

const SOURCE = import.meta.dirname;
const COPIED = ["index.html", "icon.svg", "icon-wait.svg"];

const APART: Plugin = {
  name: "apart",
  setup: (current) =>
    current.onResolve({ filter: /\/diff-texts\.ts$/ }, () => ({ path: "./diff-texts.js", external: true })),
};

/** Writes the page, its scripts, styles and icons; overwrites what is there, removes nothing. */
export async function buildWeb(outFolder: string): Promise<void> {
  await mkdir(outFolder, { recursive: true });
  const options: BuildOptions = {
    outdir: outFolder,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    logLevel: "error",
  };
  const entryPoints = { main: join(SOURCE, "main.tsx"), theme: join(SOURCE, "theme/theme.ts") };
  await build({ ...options, entryPoints, splitting: true, plugins: [APART] });
  // Split with the others it would share a part with the editor, of which it needs nothing.
  await build({ ...options, entryPoints: { "diff-texts": join(SOURCE, "parts/diff-texts.ts") } });
  await writeFile(join(outFolder, "style.css"), await buildStyles(SOURCE));
  await Promise.all(COPIED.map((name) => cp(join(SOURCE, name), join(outFolder, name))));
}
