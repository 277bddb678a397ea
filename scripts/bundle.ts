/**
 * Bundles the gateway's modules and those of its packages into a few files: finding and linking six hundred modules
 * takes longer than the rest of the start.
 */

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import type { Metafile, Plugin } from "esbuild";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCE = join(ROOT, "src");
/** Native code, and modules that are found by file path or may be missing. */
const APART = ["isolated-vm", "typescript", "amaro", "re2js", "workerd", "@jitl/*"];
/** Some packages are CommonJS and ask for builtins by `require`. */
const BANNER =
  'import { createRequire as createRequireOf } from "node:module"; const require = createRequireOf(import.meta.url);';

/** Replaces `main.js` of a compiled folder, and writes the chunks that are loaded on demand beside it. */
export async function bundleGateway(outFolder: string): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(SOURCE, "main.ts")],
    outdir: outFolder,
    chunkNames: "part-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node24",
    mainFields: ["module", "main"],
    external: APART,
    banner: { js: BANNER },
    plugins: [keepPlaces],
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
    allowOverwrite: true,
  });
  writeFileSync(join(outFolder, "third-party-licenses.txt"), collectLicenses(metafile));
}

/** A module that looks for a file beside itself still finds the folder of its own compiled file. */
const keepPlaces: Plugin = {
  name: "keep-places",
  setup(plugin) {
    plugin.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const place = relative(SOURCE, path).replaceAll("\\", "/").replace(/\.ts$/, ".js");
      const url = `new URL(${JSON.stringify(place)}, import.meta.url).href`;
      const text = readFileSync(path, "utf8");
      return { contents: text.replaceAll("import.meta.url", url), loader: "ts" };
    });
  },
};

/** Collects the licenses of the bundled packages, which must be distributed with their code. */
function collectLicenses({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  return [...new Set(folders)].toSorted().map(toNotice).join("\n\n");
}

function toNotice(folder: string): string {
  const manifest: { name: string; version: string; license?: string } = JSON.parse(
    readFileSync(join(ROOT, folder, "package.json"), "utf8"),
  );
  const file = readdirSync(join(ROOT, folder)).find((name) => /^licen[cs]e/i.test(name));
  const text = file === undefined ? "" : readFileSync(join(ROOT, folder, file), "utf8");
  return `# ${manifest.name} ${manifest.version} (${manifest.license ?? "see its package"})\n\n${text.trim()}`;
}
