/** The engine of Cloudflare's Dynamic Workers: workerd, a separate process without Node, from an optional package. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { GloveboxError } from "../../../domain/index.ts";
import { WIRE_DESCRIPTOR } from "../../engine.ts";
import type { ChildCommand, Engine, EngineFile } from "../../engine.ts";
import { findBuilt } from "../../find-built.ts";
import { listLibraries } from "../engine-files.ts";

/** The version that the suites run on; the package is a peer that may be missing. */
export const WORKERD_VERSION = "1.20261104.1";

const WORKERD_AT = "/engine/workerd";
const CONFIG_AT = "/engine/workerd.capnp";
/** workerd does not start without it. */
const RANDOMNESS = "/dev/urandom";
const WORKER_AT = "/engine/child.js";

/** Worker Loader bindings are experimental in workerd. */
const ARGS = ["serve", "--experimental", "--socket-fd", `wire=${WIRE_DESCRIPTOR}`];

/** Finds the package with `require`. Throws SANDBOX_UNAVAILABLE with the remedy if workerd is missing. */
export function createWorkerdEngine(require: NodeJS.Require = createRequire(import.meta.url)): Engine {
  const workerd = findWorkerd(require);
  const child = findBuilt("workerd", "child.js");
  const config = join(dirname(child), "workerd.capnp");
  return {
    name: "workerd",
    command: () => commandOf(workerd, config),
    contained: {
      files: [
        { from: realpathSync(workerd), at: WORKERD_AT, isProgram: true },
        { from: config, at: CONFIG_AT },
        { from: child, at: WORKER_AT },
        { from: RANDOMNESS, at: RANDOMNESS, isDevice: true },
        ...listNeeded(),
      ],
      acceptsWire: true,
      command: () => commandOf(WORKERD_AT, CONFIG_AT),
    },
  };
}

function commandOf(file: string, config: string): ChildCommand {
  return { file, args: [...ARGS, config], acceptsWire: true };
}

/** workerd also needs a part of the C library that Node may not use. */
function listNeeded(): readonly EngineFile[] {
  const libraries = listLibraries();
  const listed = new Set(libraries.map(({ at }) => at));
  const folders = new Set(libraries.map(({ at }) => dirname(at)));
  const more = [...folders].map((folder) => join(folder, "librt.so.1"));
  const missing = more.filter((file) => existsSync(file) && !listed.has(file));
  return [...libraries, ...missing.map((file) => ({ from: realpathSync(file), at: file }))];
}

function findWorkerd(require: NodeJS.Require): string {
  // workerd does not limit memory; where the kernel does not report its memory, a program could take all.
  if (process.platform !== "linux") {
    throw new GloveboxError("SANDBOX_UNAVAILABLE", "The engine workerd runs on Linux only", {
      hint: 'Set sandbox.engine to "isolate" or "quickjs"',
    });
  }
  try {
    return parseExecutable(require("workerd"));
  } catch (cause) {
    throw new GloveboxError("SANDBOX_UNAVAILABLE", "The package of workerd is not installed for this platform", {
      cause,
      hint: `Run \`npm install workerd@${WORKERD_VERSION}\` beside Glovebox, or set sandbox.engine to "isolate"`,
    });
  }
}

/** The package exports the path of its executable for this platform. */
function parseExecutable(workerd: unknown): string {
  const file = typeof workerd === "object" && workerd !== null && "default" in workerd ? workerd.default : undefined;
  if (typeof file !== "string" || !existsSync(file)) throw new TypeError("The package names no executable");
  return file;
}
