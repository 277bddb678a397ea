/** Puts every layer that this machine offers around an engine, and reports the isolation level that this reaches. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { IsolationLayer } from "../../domain/index.ts";
import type { ChildCommand, ConfinedEngine, Engine } from "../engine.ts";
import { MORE_FILES, countLeastFiles, requireStreams, sendFilter } from "../start-child.ts";
import { assembleFilter } from "./assemble-filter.ts";
import { confine, findTools } from "./confine.ts";

const PROBE_MS = 10_000;
const REASON_CHARS = 300;

/**
 * `auto` takes what there is, `strict` refuses less than everything, `process` uses no layer. Each layer is tried for
 * real before it is reported.
 */
export async function confineEngine(engine: Engine, wanted: "auto" | "strict" | "process"): Promise<ConfinedEngine> {
  requireFiles(readMostFiles(), countLeastFiles());
  const confined =
    wanted === "process"
      ? unconfined(engine, 'switched off by the setting sandbox.isolation = "process"', 'Set it to "auto"')
      : await tryAll(engine);
  if (wanted === "strict" && confined.isolation !== "strict") throw notStrict(confined);
  return confined;
}

/** With less, layers would fail one by one, and the level would drop for a reason that has nothing to do with it. */
function requireFiles(most: number, least: number): void {
  if (most >= least) return;
  const message = `This process may open only ${most} files; the sandbox needs at least ${least}`;
  throw new GloveboxError("SANDBOX_UNAVAILABLE", message, { hint: MORE_FILES });
}

/** Infinite without a limit, or without /proc. */
function readMostFiles(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

async function tryAll(engine: Engine): Promise<ConfinedEngine> {
  const { contained, faster } = engine;
  const { bubblewrap, prlimit } = findTools();
  if (!contained || (faster && !faster.contained)) {
    return unconfined(engine, `${process.platform} has no confinement that Glovebox knows`, "Run Glovebox on Linux");
  }
  if (bubblewrap === undefined) {
    const hint = "Install the package bubblewrap: apt-get install bubblewrap";
    return unconfined(engine, "bubblewrap (bwrap) was not found", hint);
  }
  const filter = assembleFilter(process.arch, contained.acceptsWire);
  const confinement = { tools: { bubblewrap, prlimit }, files: contained.files, filter };
  const failure = await probe(confine({ file: contained.command(0).file, args: ["--version"] }, confinement));
  if (failure !== undefined) {
    const hint =
      "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run in a container that does";
    return unconfined(engine, `bubblewrap cannot confine here: ${failure}`, hint);
  }
  const isolation = filter && prlimit !== undefined ? "strict" : "confined";
  const reached = { isolation, layers: describeLayers(filter, prlimit), prlimit } as const;
  const wrap = ({ faster: _, ...one }: Engine, inside: Contained): ConfinedEngine => {
    const layers = { ...confinement, files: inside.files };
    return { ...one, ...reached, command: (usualMemoryBytes) => confine(inside.command(usualMemoryBytes), layers) };
  };
  // The same layers around the same Node: what was tried for one engine holds for the other.
  const other = faster?.contained && wrap(faster, faster.contained);
  return { ...wrap(engine, contained), ...defined({ faster: other }) };
}

type Contained = NonNullable<Engine["contained"]>;

function unconfined({ faster, ...engine }: Engine, message: string, hint: string): ConfinedEngine {
  const names = ["namespaces", "seccomp", "rlimits"] as const;
  const layers = names.map((name): IsolationLayer => ({ name, present: false, message, hint }));
  const other = faster && unconfined(faster, message, hint);
  return { ...engine, isolation: "process", layers, prlimit: undefined, ...defined({ faster: other }) };
}

/** Starts the engine with every layer. Returns the reason if it fails. */
async function probe(command: ChildCommand): Promise<string | undefined> {
  const child = spawn(command.file, command.args, {
    stdio: ["ignore", "ignore", "pipe", "ignore", command.filter ? "pipe" : "ignore", "pipe"],
    env: {},
    cwd: "/",
    timeout: PROBE_MS,
    killSignal: "SIGKILL",
  });
  requireStreams(child);
  if (command.filter) sendFilter(child, command.filter);
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", (code) => resolve(code));
  });
  const [code, stderr] = await Promise.all([ended, child.stderr ? text(child.stderr) : ""]);
  return code === 0 ? undefined : stderr.trim().slice(0, REASON_CHARS) || `bubblewrap ended with ${code}`;
}

function describeLayers(filter: Buffer | undefined, prlimit: string | undefined): readonly IsolationLayer[] {
  return [
    {
      name: "namespaces",
      present: true,
      message: "own users, mounts, processes, network, IPC; a root with the engine only",
    },
    filter
      ? { name: "seccomp", present: true, message: "a filter with the system calls of the engine only" }
      : {
          name: "seccomp",
          present: false,
          message: `seccomp has no system call table for ${process.arch}`,
          hint: "Use x86-64 or arm64",
        },
    prlimit === undefined
      ? { name: "rlimits", present: false, message: "prlimit was not found", hint: "Install the package util-linux" }
      : { name: "rlimits", present: true, message: "memory, file size, descriptors and core dumps are capped" },
  ];
}

function notStrict({ isolation, layers }: ConfinedEngine): GloveboxError {
  const missing = layers.filter(({ present }) => !present);
  const reasons = [...new Set(missing.map(({ message }) => message))].join("; ");
  const message = `This machine reaches isolation "${isolation}", not "strict": ${reasons}`;
  return new GloveboxError("SANDBOX_UNAVAILABLE", message, {
    hint: `${missing[0]?.hint ?? "See `glovebox doctor`"}; or set sandbox.isolation to "auto" to run with what there is`,
  });
}
