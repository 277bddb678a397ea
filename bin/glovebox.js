#!/usr/bin/env node
// The launcher, in syntax that old versions of Node understand. Glovebox needs Node 24: on an older one this starts
// the Node that an installed package brings, or says in one line what to do.

import { spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import module, { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST = [24, 11];
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function findBundledNode() {
  const require = createRequire(import.meta.url);
  for (const name of [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`]) {
    try {
      const file = join(
        dirname(require.resolve(`${name}/package.json`)),
        "bin",
        process.platform === "win32" ? "node.exe" : "node",
      );
      if (existsSync(file)) return file;
    } catch {
      // not installed: the next one may be
    }
  }
  return undefined;
}

/** The same command under the other Node; this process only passes signals on and ends as it ends. */
function startAgain(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, GLOVEBOX_LAUNCHER: String(process.pid) },
  });
  // A terminal sends Ctrl-C to both, so what is passed on may not look like a second one.
  process.on("SIGINT", () => child.kill("SIGTERM"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => (signal ? process.kill(process.pid, "SIGKILL") : process.exit(code)));
}

/** In a clone the build is made when it is missing or older than its sources. */
async function ensureBuilt() {
  if (!existsSync(join(ROOT, "src", "main.ts"))) return;
  const { isStale } = await import("../scripts/stale.js");
  if (!isStale()) return;
  const { build } = await import("../scripts/build.ts");
  await build();
}

/**
 * Keeps compiled code for the next start, in a folder that nobody else may enter: whoever can write there decides what
 * runs. Without such a folder everything is compiled again.
 */
function keepCompiled() {
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "glovebox", "compiled");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const status = lstatSync(folder);
    const isOurs = !process.getuid || (status.uid === process.getuid() && (status.mode & 0o077) === 0);
    if (status.isDirectory() && isOurs) module.enableCompileCache(folder);
  } catch {
    // No home, a full disk, a read-only one.
  }
}

if (isNewEnough(process.versions.node)) {
  await ensureBuilt();
  keepCompiled();
  const { main } = await import("../dist/main.js");
  await main(process.argv.slice(2));
} else {
  const node = findBundledNode();
  if (node) startAgain(node);
  else {
    console.error(
      `Glovebox needs Node ${OLDEST.join(".")} or newer and this is ${process.versions.node}: install a newer Node, or run npx -p node-${process.platform}-${process.arch}@24 -p glovebox glovebox`,
    );
    process.exit(2);
  }
}
