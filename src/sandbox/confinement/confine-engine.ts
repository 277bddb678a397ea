/** Puts every layer that this machine offers around an engine, and says which level that reaches. */

import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";

import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionResult, IsolationLayer } from "../../domain/index.ts";
import { FILTER_DESCRIPTOR } from "../engine.ts";
import type { ChildCommand, ConfinedEngine, Engine } from "../engine.ts";
import { assembleFilter } from "./assemble-filter.ts";
import { confine } from "./confine.ts";
import { findTools } from "./find-tools.ts";

const PROBE_MS = 10_000;
const REASON_CHARS = 300;

/**
 * `auto` takes what there is, `strict` refuses less than everything, `process` leaves the machine's means unused.
 * Each layer is tried for real before it is claimed.
 */
export async function confineEngine(engine: Engine, wanted: "auto" | "strict" | "process"): Promise<ConfinedEngine> {
  const confined = wanted === "process" ? leave(engine) : await tryAll(engine);
  if (wanted === "strict" && confined.isolation !== "strict") throw notStrict(confined);
  return confined;
}

function leave(engine: Engine): ConfinedEngine {
  const message = 'switched off by the setting sandbox.isolation = "process"';
  const layers = LAYERS.map((name): IsolationLayer => ({ name, present: false, message, hint: 'Set it to "auto"' }));
  return { ...engine, isolation: "process", layers, prlimit: undefined };
}

const LAYERS = ["namespaces", "seccomp", "rlimits"] as const;

async function tryAll(engine: Engine): Promise<ConfinedEngine> {
  const { contained } = engine;
  const { bubblewrap, prlimit } = findTools();
  const rlimits = describeRlimits(prlimit);
  if (!contained || bubblewrap === undefined) {
    const missing = describeMissing(contained !== undefined);
    return { ...engine, isolation: "process", layers: missing, prlimit: undefined };
  }
  const filter = assembleFilter(process.arch, contained.acceptsWire);
  const confinement = { tools: { bubblewrap, prlimit }, files: contained.files, filter };
  const failure = await probe(confine({ file: contained.command(0).file, args: ["--version"] }, confinement));
  if (failure !== undefined)
    return { ...engine, isolation: "process", layers: describeFailure(failure), prlimit: undefined };
  const layers: readonly IsolationLayer[] = [
    {
      name: "namespaces",
      present: true,
      message: "own users, mounts, processes, network, IPC; a root with the engine only",
    },
    describeFilter(filter),
    rlimits,
  ];
  return {
    ...engine,
    isolation: toLevel(layers),
    layers,
    prlimit,
    command: (usualMemoryBytes) => confine(contained.command(usualMemoryBytes), confinement),
  };
}

/** Starts the real thing with every layer; the reason when it does not come up. */
async function probe(command: ChildCommand): Promise<string | undefined> {
  const child = spawn(command.file, command.args, {
    stdio: ["ignore", "ignore", "pipe", "ignore", command.filter ? "pipe" : "ignore", "pipe"],
    env: {},
    cwd: "/",
    timeout: PROBE_MS,
    killSignal: "SIGKILL",
  });
  const filter = child.stdio[FILTER_DESCRIPTOR];
  if (filter instanceof Writable) {
    filter.on("error", () => undefined);
    filter.end(command.filter);
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", (code) => resolve(code));
  });
  const [code, stderr] = await Promise.all([ended, child.stderr ? text(child.stderr) : ""]);
  return code === 0 ? undefined : stderr.trim().slice(0, REASON_CHARS) || `bubblewrap ended with ${code}`;
}

function describeFilter(filter: Buffer | undefined): IsolationLayer {
  return filter
    ? { name: "seccomp", present: true, message: "a filter with the system calls of the engine only" }
    : {
        name: "seccomp",
        present: false,
        message: `seccomp has no system call table for ${process.arch}`,
        hint: "Use x86-64",
      };
}

function describeRlimits(prlimit: string | undefined): IsolationLayer {
  return prlimit === undefined
    ? { name: "rlimits", present: false, message: "prlimit was not found", hint: "Install the package util-linux" }
    : { name: "rlimits", present: true, message: "memory, file size, descriptors and core dumps are capped" };
}

function describeMissing(isContainable: boolean): readonly IsolationLayer[] {
  if (!isContainable) {
    const message = `${process.platform} has no confinement that Glovebox knows`;
    return LAYERS.map((name) => ({ name, present: false, message, hint: "Run Glovebox on Linux" }));
  }
  const message = "bubblewrap (bwrap) was not found";
  const hint = "Install the package bubblewrap: apt-get install bubblewrap";
  return LAYERS.map((name) => ({ name, present: false, message, hint }));
}

function describeFailure(reason: string): readonly IsolationLayer[] {
  const message = `bubblewrap cannot confine here: ${reason}`;
  const hint =
    "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run in a container that does";
  return LAYERS.map((name) => ({ name, present: false, message, hint }));
}

function notStrict({ isolation, layers }: ConfinedEngine): GloveboxError {
  const missing = layers.filter(({ present }) => !present);
  const reasons = [...new Set(missing.map(({ message }) => message))].join("; ");
  const message = `This machine reaches isolation "${isolation}", not "strict": ${reasons}`;
  return new GloveboxError("SANDBOX_UNAVAILABLE", message, {
    hint: `${missing[0]?.hint ?? "See `glovebox doctor`"}; or set sandbox.isolation to "auto" to run with what there is`,
  });
}

/** Strict means every layer, confined some of them, process none. */
function toLevel(layers: readonly IsolationLayer[]): ExecutionResult["isolation"] {
  if (layers.every(({ present }) => present)) return "strict";
  return layers.some(({ present }) => present) ? "confined" : "process";
}
