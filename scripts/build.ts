/**
 * Builds `dist/`: compiled by TypeScript, then the gateway joined into few files and the admin page made by esbuild.
 * A finished build appears at once.
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { STAMP, isStale } from "./stale.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");

/** Builds when there is no build or a source is newer than it. */
export async function buildIfStale(): Promise<void> {
  if (isStale()) await build();
}

/** Into a folder of its own first, so that two builds at once cannot mix and a failed one leaves the old in place. */
export async function build(): Promise<void> {
  const { buildWeb } = await import("../web/build-web.ts");
  const { bundleGateway } = await import("./bundle.ts");
  const fresh = join(ROOT, `.dist-${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh);
  try {
    compile(fresh);
    await bundleGateway(fresh);
    await bundleChildren(fresh);
    await buildWeb(join(fresh, "web"));
    writeFileSync(join(fresh, ".built"), "");
    replaceDist(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function compile(outFolder: string): void {
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const args = [compiler, "-p", join(ROOT, "tsconfig.build.json"), "--outDir", outFolder];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: ROOT });
  if (status === 0) return;
  throw new Error(`The build failed:\n${stdout}`);
}

/** A confined child sees single files, so the code of each engine's child is one. */
async function bundleChildren(outFolder: string): Promise<void> {
  const { build: bundle } = await import("esbuild");
  for (const engine of ["isolate", "quickjs", "workerd"]) {
    await bundle({
      entryPoints: [join(ROOT, "src/sandbox/engines", engine, "child.ts")],
      outfile: join(outFolder, "sandbox/engines", engine, "child.js"),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node24",
      logLevel: "warning",
      allowOverwrite: true,
    });
  }
  const config = "sandbox/engines/workerd/workerd.capnp";
  copyFileSync(join(ROOT, "src", config), join(outFolder, config));
}

function replaceDist(fresh: string): void {
  const old = join(ROOT, `.dist-old-${process.pid}`);
  try {
    renameSync(DIST, old);
  } catch {
    // There was none, or another build has just moved it away.
  }
  try {
    renameSync(fresh, DIST);
  } catch (cause) {
    if (!existsSync(STAMP)) throw cause; // another build was faster: its result is as good
  }
  rmSync(old, { recursive: true, force: true });
}

if (import.meta.main) await build();
