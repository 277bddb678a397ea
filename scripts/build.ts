/**
 * Builds `dist/`: TypeScript checks types and writes one file of declarations, and esbuild bundles the gateway, its
 * child processes and the admin page. A finished build replaces the old one at once.
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { STAMP, isStale } from "./stale.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");

/** Builds if the build is missing or if a source is newer than the build. */
export async function buildIfStale(): Promise<void> {
  if (isStale()) await build();
}

/**
 * Builds into a temporary folder first, so that two simultaneous builds cannot mix and a failed build leaves the old
 * one in place.
 */
export async function build(): Promise<void> {
  const { buildWeb } = await import("../web/build-web.ts");
  const { bundleGateway, bundleScripts, bundleVendored } = await import("./bundle.ts");
  const { rollUpTypes } = await import("./roll-up-types.ts");
  const fresh = join(ROOT, `.dist-${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh);
  try {
    compile(join(fresh, "types"));
    writeFileSync(join(fresh, "main.d.ts"), rollUpTypes(join(fresh, "types"), "main.d.ts"));
    rmSync(join(fresh, "types"), { recursive: true });
    await bundleGateway(fresh);
    await bundleScripts(fresh);
    await bundleChildren(fresh, await writeImages(fresh));
    await bundleVendored(fresh);
    await copyNative(fresh);
    copyPlain(fresh, "connectors/confinement/late-proxy.cjs");
    await buildWeb(join(fresh, "web"));
    writeFileSync(join(fresh, ".built"), "");
    replaceDist(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function compile(outFolder: string): void {
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const args = [compiler, "-p", join(ROOT, "tsconfig.build.json"), "--emitDeclarationOnly", "--outDir", outFolder];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: ROOT });
  if (status === 0) return;
  throw new Error(`The build failed:\n${stdout}`);
}

/** Writes the memory that QuickJS programs start from, and returns the digests of the files. */
async function writeImages(outFolder: string): Promise<readonly string[]> {
  const { buildImage } = await import("./build-image.ts");
  const { GUARDED_IMAGE_FILE, IMAGE_FILE } = await import("../src/sandbox/engines/quickjs/quickjs-engine.ts");
  const { digestOf } = await import("../src/text/index.ts");
  const wasm = fileURLToPath(import.meta.resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm"));
  return [IMAGE_FILE, GUARDED_IMAGE_FILE].map((file) => {
    const image = buildImage(readFileSync(wasm), { guarded: file === GUARDED_IMAGE_FILE });
    mkdirSync(join(outFolder, "sandbox/engines/quickjs"), { recursive: true });
    writeFileSync(join(outFolder, "sandbox/engines/quickjs", file), image);
    return digestOf(image);
  });
}

/** A confined child sees single files, so the code of each engine's child is one file. */
async function bundleChildren(outFolder: string, imageDigests: readonly string[]): Promise<void> {
  const { build: bundle } = await import("esbuild");
  const { plainBuiltins } = await import("./bundle.ts");
  for (const engine of ["isolate", "quickjs", "workerd"]) {
    // Node takes `.mjs` for a module without a look at package.json, which a confined child may not read.
    const name = engine === "workerd" ? "child.js" : "child.mjs";
    await bundle({
      entryPoints: [join(ROOT, "src/sandbox/engines", engine, "child.ts")],
      outfile: join(outFolder, "sandbox/engines", engine, name),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node22",
      define: { QUICKJS_IMAGE_DIGESTS: JSON.stringify(imageDigests) },
      plugins: [plainBuiltins],
      logLevel: "warning",
      allowOverwrite: true,
    });
  }
  copyPlain(outFolder, "sandbox/engines/workerd/workerd.capnp");
}

/** Copies a file that needs no compiler. */
function copyPlain(outFolder: string, name: string): void {
  mkdirSync(dirname(join(outFolder, name)), { recursive: true });
  copyFileSync(join(ROOT, "src", name), join(outFolder, name));
}

/** Copies the native parts into their room, after a comparison with their digests. */
async function copyNative(outFolder: string): Promise<void> {
  const { NATIVE_PARTS, NATIVE_TARGETS, readDigests } = await import("./build-launcher.ts");
  const { digestOf } = await import("../src/text/index.ts");
  const digests = readDigests();
  for (const target of NATIVE_TARGETS) {
    const folder = join(outFolder, "processes/native", target);
    mkdirSync(folder, { recursive: true });
    for (const part of NATIVE_PARTS) {
      const file = join(ROOT, "native/prebuilt", target, part);
      if (digestOf(readFileSync(file)) !== digests[`${target}/${part}`]) {
        throw new Error(`${file} does not have its digest. Run \`npm run build:launcher\``);
      }
      copyFileSync(file, join(folder, part));
    }
  }
}

function replaceDist(fresh: string): void {
  const old = join(ROOT, `.dist-old-${process.pid}`);
  try {
    renameSync(DIST, old);
  } catch {
    // There was no build, or another build has just moved it.
  }
  try {
    renameSync(fresh, DIST);
  } catch (cause) {
    if (!existsSync(STAMP)) throw cause; // another build was faster, and its result is equivalent
  }
  rmSync(old, { recursive: true, force: true });
}

if (import.meta.main) await build();
