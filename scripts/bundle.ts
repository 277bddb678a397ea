/**
 * Bundles the gateway's modules and those of its packages into a few files: finding and linking six hundred modules
 * takes longer than the rest of the start.
 */

import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

import { WASM_FILE } from "../src/sandbox/engines/quickjs/quickjs-engine.ts";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCE = join(ROOT, "src");
/** Programs of their own, and modules that are found by file path or may be missing. */
const APART = ["typescript", "amaro", "re2js", "workerd"];
/** The oldest Node that runs the gateway. */
const TARGET = "node22";
/** Packages that are a part of this one without being bundled with `main.js`. */
const COPIED = ["@jitl/quickjs-ng-wasmfile-release-sync", "amaro", "isolated-vm", "re2js"];
/** Some packages are CommonJS and ask for builtins by `require`. */
const BANNER =
  'import { createRequire as createRequireOf } from "node:module"; const require = createRequireOf(import.meta.url);';
/** The first code of each file: an older Node lacks builtins that the next lines use. */
const REFUSAL = `{ const [major, minor] = process.versions.node.split(".").map(Number); if (major < 22 || (major === 22 && minor < 19)) throw new Error("Glovebox needs Node 22.19 or newer and this is " + process.versions.node + ": install a newer Node"); }`;
const require = createRequire(import.meta.url);

/** Writes `main.js`, and beside it the chunks that are loaded on demand. */
export async function bundleGateway(outFolder: string): Promise<void> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: [join(SOURCE, "main.ts")],
    outdir: outFolder,
    chunkNames: "part-[hash]",
    splitting: true,
    external: APART,
    inject: [join(ROOT, "scripts/older-node.ts")],
    banner: { js: `${REFUSAL}${BANNER}` },
    metafile: true,
  });
  requireAscii(Object.keys(metafile.outputs));
  const folders = [...foldersOf(metafile), ...COPIED.map((name) => `node_modules/${name}`)];
  writeFileSync(join(outFolder, "third-party-licenses.txt"), collectLicenses(folders));
}

/** What runs in a process or thread of its own. Each is one file, because finding modules takes most of a start. */
const SCRIPTS = [
  "checker/child/main",
  "connectors/openapi/compile-child",
  "sandbox/watchdog-thread",
  "surfaces/demo/inventory",
];

export async function bundleScripts(outFolder: string): Promise<void> {
  for (const place of SCRIPTS) {
    const files = { entryPoints: [join(SOURCE, `${place}.ts`)], outfile: join(outFolder, `${place}.js`) };
    await build({ ...COMMON, ...files, external: APART, banner: { js: BANNER } });
  }
}

/** Packages that are loaded on first use, and dropped and loaded again, stay files of their own. */
export async function bundleVendored(outFolder: string): Promise<void> {
  for (const [name, place] of [
    ["amaro", "analysis/typescript/amaro/index.cjs"],
    ["re2js", "bridge/re2js.cjs"],
  ] as const) {
    const outfile = join(outFolder, place);
    await build({ ...COMMON, plugins: [], format: "cjs", entryPoints: [require.resolve(name)], outfile });
  }
  copyFileSync(
    require.resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm"),
    join(outFolder, "sandbox/engines/quickjs", WASM_FILE),
  );
  copyNatives(join(outFolder, "sandbox/engines/isolate"));
}

/** The prebuilt modules of isolated-vm for the platforms and versions of Node that it has them for. */
function copyNatives(folder: string): void {
  const prebuilds = join(dirname(require.resolve("isolated-vm/package.json")), "prebuilds");
  mkdirSync(folder, { recursive: true });
  for (const platform of readdirSync(prebuilds)) {
    for (const file of readdirSync(join(prebuilds, platform))) {
      copyFileSync(join(prebuilds, platform, file), join(folder, file.replace("isolated-vm", platform)));
    }
  }
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

/** Node 22 warns when it loads SQLite, which is the same there. */
const QUIET_SQLITE = `const emit = process.emitWarning; process.emitWarning = () => {};
try { module.exports = process.getBuiltinModule("node:sqlite"); } finally { process.emitWarning = emit; }`;

function takeBuiltin(name: string): string {
  if (name === "sqlite") return QUIET_SQLITE;
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
  target: TARGET,
  mainFields: ["module", "main"],
  plugins: [keepPlaces, dropLocales, plainBuiltins],
  legalComments: "none",
  // Comments stay in memory with the text, and text beyond ASCII takes twice as much.
  minifyWhitespace: true,
  logLevel: "warning",
  allowOverwrite: true,
} satisfies BuildOptions;

function foldersOf({ inputs }: Metafile): readonly string[] {
  return Object.keys(inputs).flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
}

/** Collects the licenses of the packages in these folders, which must be distributed with their code. */
function collectLicenses(folders: readonly string[]): string {
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
