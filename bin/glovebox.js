#!/usr/bin/env node
// The launcher, in syntax that old versions of Node understand. An older version than Glovebox needs starts the Node of
// an installed package, or prints in one line what to do.

import { spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import module, { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

const OLDEST = [22, 19];
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function findBundledNode() {
  const require = createRequire(import.meta.url);
  const program = process.platform === "win32" ? "node.exe" : "node";
  for (const [name, place] of [
    ["glovebox-v8", program],
    [`node-${process.platform}-${process.arch}`, `bin/${program}`],
  ]) {
    try {
      const file = join(dirname(require.resolve(`${name}/package.json`)), place);
      if (existsSync(file)) return file;
    } catch {
      // not installed: try the next one
    }
  }
  return undefined;
}

/** Runs the same command with the other Node. This process only forwards signals and exits with the same code. */
function startAgain(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, GLOVEBOX_LAUNCHER: String(process.pid) },
  });
  // A terminal sends Ctrl-C to both, so a forwarded signal must not look like a second one.
  process.on("SIGINT", () => child.kill("SIGTERM"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => (signal ? process.kill(process.pid, "SIGKILL") : process.exit(code)));
}

/** In a clone, builds if the build is missing or older than its sources. */
async function ensureBuilt() {
  if (!existsSync(join(ROOT, "src", "main.ts"))) return;
  const { isStale } = await import("../scripts/stale.js");
  if (!isStale()) return;
  const { build } = await import("../scripts/build.ts");
  await build();
}

/**
 * Keeps compiled code for the next start in a folder that only this user can enter, because write access to it means
 * control of the code that runs. Without such a folder everything is compiled again.
 */
function keepCompiled() {
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "glovebox", "compiled");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const status = lstatSync(folder);
    const isOurs = !process.getuid || (status.uid === process.getuid() && (status.mode & 0o077) === 0);
    if (status.isDirectory() && isOurs) module.enableCompileCache(folder);
  } catch {
    // The home folder is missing, or the disk is full or read-only.
  }
}

/**
 * The space for new objects does not grow any more: requests leave little behind, so a larger one only costs memory. Older
 * ones are collected when they have grown by half since the last time, instead of severalfold.
 */
function keepHeapSmall() {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
}

/** Node 22 calls SQLite and TypeScript experimental. */
function dropExperimentalWarnings() {
  const emit = process.emitWarning;
  process.emitWarning = (warning, ...more) => {
    const [type] = more;
    if ((typeof type === "object" ? type?.type : type) !== "ExperimentalWarning") emit(warning, ...more);
  };
}

if (isNewEnough(process.versions.node)) {
  if (process.versions.node.startsWith("22.")) dropExperimentalWarnings();
  await ensureBuilt();
  keepCompiled();
  const { main } = await import("../dist/main.js");
  keepHeapSmall();
  await main(process.argv.slice(2));
} else {
  const node = findBundledNode();
  if (node) startAgain(node);
  else {
    console.error(
      `Glovebox needs Node ${OLDEST.join(".")} or newer and this is ${process.versions.node}: install a newer Node`,
    );
    process.exit(2);
  }
}
