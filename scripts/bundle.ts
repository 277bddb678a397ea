/**
 * Bundles the gateway's modules and those of its packages into a few files: finding and linking six hundred modules
 * takes longer than the rest of the start.
 */

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

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
    ...COMMON,
    entryPoints: [join(SOURCE, "main.ts")],
    outdir: outFolder,
    chunkNames: "part-[hash]",
    splitting: true,
    external: APART,
    banner: { js: BANNER },
    metafile: true,
  });
  requireAscii(Object.keys(metafile.outputs));
  writeFileSync(join(outFolder, "third-party-licenses.txt"), collectLicenses(metafile));
}

/** Replaces the demo server by one file with its packages: finding them takes most of its start. */
export async function bundleDemo(outFolder: string): Promise<void> {
  const place = "surfaces/demo/inventory";
  await build({ ...COMMON, entryPoints: [join(SOURCE, `${place}.ts`)], outfile: join(outFolder, `${place}.js`) });
}

/** V8 keeps the text of a module, with two bytes per character if one of them needs two. */
function requireAscii(names: readonly string[]): void {
  for (const name of names) {
    const other = /[^\0-\x7f].{0,40}/u.exec(readFileSync(join(ROOT, name), "utf8"))?.[0];
    if (other !== undefined) throw new Error(`Write this with escapes, so that ${name} stays ASCII: ${other}`);
  }
}

/** Messages of the schema library in other languages, which are half of it. */
const dropLocales: Plugin = {
  name: "drop-locales",
  setup(plugin) {
    plugin.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "export {};" }));
  },
};

/** Builtins that are objects and large: each is loaded when it is first used. */
const LAZY = new Set([
  "child_process",
  "crypto",
  "dns",
  "http",
  "http2",
  "https",
  "net",
  "tls",
  "worker_threads",
  "zlib",
]);

/**
 * Takes Node's builtins as `require` does. An import statement reads every export of a builtin at once, and so loads the
 * whole HTTP client of Node for `node:http`: 50 ms and 17 MB.
 */
export const plainBuiltins: Plugin = {
  name: "plain-builtins",
  setup(plugin) {
    const names = builtinModules.map((name) => name.replace(/^node:/, "")).join("|");
    plugin.onResolve({ filter: new RegExp(`^(node:)?(${names}|sqlite)$`) }, ({ path }) => ({
      path: path.replace(/^node:/, ""),
      namespace: "builtin",
    }));
    plugin.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({ contents: takeBuiltin(path) }));
  },
};

function takeBuiltin(name: string): string {
  const take = `process.getBuiltinModule(${JSON.stringify(`node:${name}`)})`;
  if (!LAZY.has(name)) return `module.exports = ${take};`;
  const builtin: object = createRequire(import.meta.url)(`node:${name}`);
  const keys = Object.entries(Object.getOwnPropertyDescriptors(builtin)).flatMap(([key, found]) =>
    // Some functions that packages call are not enumerable.
    found.enumerable === true || "get" in found ? [key] : [],
  );
  const getters = keys.map((key) => `get ${JSON.stringify(key)}() { return ${take}[${JSON.stringify(key)}]; }`);
  return `module.exports = { ${getters.join(", ")} };`;
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

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  mainFields: ["module", "main"],
  plugins: [keepPlaces, dropLocales, plainBuiltins],
  legalComments: "none",
  // Comments stay in memory with the text, and text beyond ASCII takes twice as much.
  minifyWhitespace: true,
  logLevel: "warning",
  allowOverwrite: true,
} satisfies BuildOptions;

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
