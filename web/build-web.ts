/** Builds the admin page into a folder of static files. Runs in Node at build time; nothing of it is shipped. */

import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { build, transform } from "esbuild";
import { writeFile } from "node:fs/promises";

const SOURCE = import.meta.dirname;
const COPIED = ["index.html", "icon.svg", "icon-wait.svg"];
/** In this order; the first one has every color and size. */
const STYLES = ["tokens.css", "page.css", "more.css", "control.css", "work.css"];

/** Writes the page, its scripts, styles and icons; overwrites what is there, removes nothing. */
export async function buildWeb(outFolder: string): Promise<void> {
  await mkdir(outFolder, { recursive: true });
  await build({
    entryPoints: { main: join(SOURCE, "main.tsx"), theme: join(SOURCE, "theme/theme.ts") },
    outdir: outFolder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    logLevel: "error",
  });
  const styles = await Promise.all(STYLES.map((name) => readFile(join(SOURCE, "styles", name), "utf8")));
  const { code } = await transform(styles.join("\n"), { loader: "css", minify: true });
  await writeFile(join(outFolder, "style.css"), code);
  await Promise.all(COPIED.map((name) => cp(join(SOURCE, name), join(outFolder, name))));
}
