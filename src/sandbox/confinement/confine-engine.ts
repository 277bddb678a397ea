/** Puts every layer that this machine offers around an engine, and reports the isolation level that this reaches. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { IsolationLayer } from "../../domain/index.ts";
import {
  assembleFilter,
  assembleSeal,
  findBubblewrap,
  findNative,
  readLandlock,
  remedyOfNamespaces,
} from "../../processes/index.ts";
import type { NativeParts } from "../../processes/index.ts";
import type { ChildCommand, ConfinedEngine, Engine } from "../engine.ts";
import { MORE_FILES, countLeastFiles, requireStreams, sendFilter } from "../start-child.ts";
import { SEAL_AT, confine } from "./confine.ts";
import type { Bubblewrap, Confinement } from "./confine.ts";

const PROBE_MS = 10_000;
const REASON_CHARS = 300;
const PROBE_AT = "/engine/probe";

/** The parts of this machine that confine. Tests leave some of them out. */
export interface Means {
  readonly native: NativeParts | undefined;
  /** The version of Landlock, or 0. */
  readonly landlock: number;
  readonly bubblewrap: string | undefined;
}

/**
 * `auto` takes what there is, `strict` refuses a wall with a gap, `process` uses no layer. Each layer is tried for real
 * before it is reported.
 */
export async function confineEngine(
  engine: Engine,
  wanted: "auto" | "strict" | "process",
  means?: Partial<Means>,
): Promise<ConfinedEngine> {
  requireFiles(readMostFiles(), countLeastFiles());
  const confined =
    wanted === "process"
      ? unconfined(engine, 'switched off by the setting sandbox.isolation = "process"', 'Set it to "auto"')
      : await tryAll(engine, means);
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

/** Walls without a gap that were tried in this process, by engine and bubblewrap: the next gateway has the same. */
const PROVEN = new Map<string, Walls>();

async function tryAll(engine: Engine, known: Partial<Means> | undefined): Promise<ConfinedEngine> {
  const { contained, faster } = engine;
  const native = known && "native" in known ? known.native : findNative();
  if (!native || !contained || (faster && !faster.contained)) {
    const place = `${process.platform} on ${process.arch}`;
    return unconfined(
      engine,
      `${place} has no confinement that Glovebox knows`,
      "Run Glovebox on Linux (x64 or arm64)",
    );
  }
  const bubblewrap = known && "bubblewrap" in known ? known.bubblewrap : findBubblewrap();
  const tested = known ? undefined : [engine.name, contained.files[0]?.from, bubblewrap].join("\n");
  const proven = tested === undefined ? undefined : PROVEN.get(tested);
  if (proven) return confined(engine, proven, [], []);
  const landlock = known?.landlock ?? tryLandlock(native);
  if (typeof landlock === "string") {
    const hint = "Install Glovebox where programs may be executed, and do not remove files of it";
    return unconfined(engine, `the launcher cannot be started: ${landlock}`, hint);
  }
  const failures: string[] = [];
  for (const way of listWays(bubblewrap)) {
    const confinement = { bubblewrap: way, native, landlock };
    const tried = await tryWay(engine, confinement);
    if (tested !== undefined && tried.length + failures.length === 0) PROVEN.set(tested, confinement);
    if (typeof tried !== "string") return confined(engine, confinement, tried, failures);
    failures.push(tried);
  }
  const hint = "Use a kernel with seccomp, and a container profile that allows it";
  return unconfined(engine, `no way to confine works here: ${failures.join("; ")}`, hint);
}

function tryLandlock(native: NativeParts): number | string {
  try {
    return readLandlock(native);
  } catch (thrown) {
    return String(thrown).slice(0, REASON_CHARS);
  }
}

/** The strongest first. */
function listWays(path: string | undefined): readonly (Bubblewrap | undefined)[] {
  if (path === undefined) return [undefined];
  return [{ path, isInContainer: false }, { path, isInContainer: true }, undefined];
}

type Walls = Pick<Confinement, "bubblewrap" | "native" | "landlock">;
type Command = (usualMemoryBytes: number) => ChildCommand;

/** Returns how the children of an engine start. */
function commandOf(engine: Engine, walls: Walls): Command {
  const { contained } = engine;
  if (!contained) throw new TypeError("The files of the engine cannot be listed");
  const confinement = { ...walls, files: contained.files, filters: filtersOf(engine, walls.native) };
  const seal = walls.bubblewrap ? SEAL_AT : walls.native.seal;
  const inner = walls.bubblewrap ? contained : engine;
  return (bytes) => confine(inner.command(bytes, engine.sealing && seal), confinement);
}

function filtersOf({ contained, sealing }: Engine, { processor }: NativeParts): Confinement["filters"] {
  const acceptsWire = contained?.acceptsWire ?? false;
  const first = assembleFilter(processor, { acceptsWire, isSealed: sealing !== undefined });
  return sealing ? [first, assembleSeal(processor, sealing.makesThreads)] : [first];
}

/** Returns what a native program reaches in place of the engine, or why the engine does not start this way. */
async function tryWay(engine: Engine, walls: Walls): Promise<readonly string[] | string> {
  const { contained, sealing } = engine;
  if (!contained) return "the files of the engine cannot be listed";
  const { bubblewrap, native } = walls;
  const filters = filtersOf(engine, native);
  const { file } = bubblewrap ? contained.command(0) : engine.command(0);
  const version = confine(
    { file, args: ["--version"] },
    { ...walls, files: contained.files, filters: filters.slice(0, 1) },
  );
  const probeFiles = [{ from: native.probe, at: PROBE_AT, isProgram: true }];
  // A file that this user can read, and that no engine needs.
  const args = [String(process.pid), fileURLToPath(import.meta.url), ...(sealing ? ["sealed"] : [])];
  const probe = confine({ file: bubblewrap ? PROBE_AT : native.probe, args }, { ...walls, files: probeFiles, filters });
  const [started, probed] = await Promise.all([start(version), start(probe)]);
  const reached = probed.output.trim().split("\n");
  if (started.code !== 0) return started.failure;
  return reached.pop() === "end" ? reached : probed.failure;
}

function confined(
  engine: Engine,
  walls: Walls,
  reached: readonly string[],
  failures: readonly string[],
): ConfinedEngine {
  const { bubblewrap, landlock, native } = walls;
  const wrapOne = ({ faster: _, ...one }: Engine): ConfinedEngine => {
    const isSealed = one.sealing !== undefined;
    const isWhole = reached.length === 0 && (bubblewrap !== undefined || (landlock > 0 && isSealed));
    return {
      ...one,
      isolation: isWhole ? "strict" : "confined",
      layers: describeLayers(walls, isSealed, failures, reached),
      readiness: { launcher: native.launcher, limitsThreads: bubblewrap !== undefined, filters: isSealed ? 2 : 1 },
      command: commandOf(one, walls),
    };
  };
  // The same layers around the same Node: what was tried for one engine holds for the other.
  return { ...wrapOne(engine), ...defined({ faster: engine.faster && wrapOne(engine.faster) }) };
}

function unconfined({ faster, ...engine }: Engine, message: string, hint: string): ConfinedEngine {
  const names = ["namespaces", "landlock", "seccomp", "sealed", "rlimits"] as const;
  const layers = names.map((name): IsolationLayer => ({ name, present: false, message, hint }));
  const other = faster && unconfined(faster, message, hint);
  return { ...engine, isolation: "process", layers, readiness: undefined, ...defined({ faster: other }) };
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
  /** Why it failed, if it did. */
  readonly failure: string;
}

/** Runs a program to its end behind the walls. */
async function start(command: ChildCommand): Promise<Ended> {
  const child = spawn(command.file, command.args, {
    stdio: [
      "ignore",
      "pipe",
      "pipe",
      "ignore",
      command.filter ? "pipe" : "ignore",
      command.reportsPid ? "pipe" : "ignore",
    ],
    env: {},
    cwd: "/",
    timeout: PROBE_MS,
    killSignal: "SIGKILL",
  });
  requireStreams(child);
  if (command.filter) sendFilter(child, command.filter);
  const ended = new Promise<number | string | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  const read = (stream: Readable | null): Promise<string> => (stream ? text(stream) : Promise.resolve(""));
  const [end, output, stderr] = await Promise.all([ended, read(child.stdout), read(child.stderr)]);
  const failure = stderr.trim().slice(0, REASON_CHARS) || `${command.file} ended with ${end}`;
  return { code: typeof end === "number" ? end : null, output, failure };
}

function describeLayers(
  { bubblewrap, landlock }: Walls,
  isSealed: boolean,
  failures: readonly string[],
  reached: readonly string[],
): readonly IsolationLayer[] {
  const gaps = reached.length > 0 ? `; a native program reaches: ${reached.join(", ")}` : "";
  return [
    bubblewrap
      ? {
          name: "namespaces",
          present: true,
          message: "own users, mounts, processes, network, IPC; a root with the engine only",
        }
      : {
          name: "namespaces",
          present: false,
          message: failures[0] === undefined ? "bubblewrap (bwrap) was not found" : `bubblewrap: ${failures[0]}`,
          hint: remedyOfNamespaces(failures[0]),
        },
    landlock > 0
      ? { name: "landlock", present: true, message: `version ${landlock}: only the engine's own files can be opened` }
      : {
          name: "landlock",
          present: false,
          message: "this kernel or container offers no Landlock",
          hint: "Use Linux 5.13 or newer with landlock in its lsm= list",
        },
    { name: "seccomp", present: true, message: `a filter with the system calls of the engine only${gaps}` },
    isSealed
      ? { name: "sealed", present: true, message: "once an engine is ready, no system call takes a path" }
      : {
          name: "sealed",
          present: false,
          message: "this engine cannot put on a second filter",
          hint: 'Set sandbox.engine to "auto", "quickjs" or "isolate"',
        },
    { name: "rlimits", present: true, message: "memory, file size, descriptors and core dumps are capped" },
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
