/** Starts one sandbox child and carries frames to and from it. */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { Readable, Writable } from "node:stream";
import type { Duplex } from "node:stream";

import { GloveboxError } from "../domain/index.ts";
import type { ChildKeeper } from "../domain/index.ts";

import { FILTER_DESCRIPTOR, INFO_DESCRIPTOR, ROLL_DESCRIPTOR } from "./engine.ts";
import type { ChildCommand, ConfinedEngine } from "./engine.ts";
import { createFrameReader, encodeFrame } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { hideInherited, listInherited } from "./hide-inherited.ts";
import { openWire } from "./open-wire.ts";
import { lowerPriority, restorePriority } from "./priority.ts";

const STDERR_BYTES = 4_096;
/** As many as a confined child may open. */
const LEAST_FILES = 64;
/** Descriptors that Node needs above the last one of a child while it starts it. */
const FILES_OF_START = 16;
/** The remedy when descriptors run out. */
export const MORE_FILES = "Allow this process more open files: `ulimit -n 1024`";
/** The whole environment of a child. */
const ENVIRONMENT = { TZ: "UTC", LC_ALL: "en_US.UTF-8" };

export interface ChildOptions {
  readonly engine: ConfinedEngine;
  readonly keeper: ChildKeeper;
  readonly usualMemoryBytes: number;
  /** A child that sends a longer frame is killed. */
  readonly maxFrameBytes: number;
}

export interface ChildListener {
  frame(frame: Frame): void;
  /** Called once, after the last frame, when the process is gone. */
  gone(reason: GloveboxError): void;
}

export interface SandboxChild {
  /** The pid of the engine, which may run below the started process; 0 while it is unknown. */
  readonly pid: number;
  /** The process group with everything that the child started; 0 if it could not be started. */
  readonly group: number;
  /** The process has ended, and its listener was called. */
  readonly isGone: boolean;
  /** Replaced whenever the child changes its owner. */
  listener: ChildListener;
  /** Frames of one turn of the event loop leave in one write. */
  send(kind: number, id: number, text: string, atMs: number): void;
  /** Whether its priority is lowered. */
  readonly hasLowPriority: boolean;
  /** Lowers its priority to one of `priority.ts`. */
  lowerPriority(priority: number): void;
  /** Restores its priority for the next program; false if the machine does not allow it. */
  restorePriority(): boolean;
  kill(): void;
}

/** How many files this process must be allowed to open. A child gets the null device for every inherited descriptor. */
export function countLeastFiles(): number {
  return Math.max(LEAST_FILES, ...listInherited().map((descriptor) => descriptor + FILES_OF_START));
}

/** Never throws: a child that cannot be started is gone after this turn. */
export function startChild(options: ChildOptions, listener: ChildListener): SandboxChild {
  try {
    return startProcess(options, listener);
  } catch (thrown) {
    return createFailedChild(listener, notStarted(thrown));
  }
}

function startProcess(options: ChildOptions, listener: ChildListener): SandboxChild {
  const { engine, keeper } = options;
  const command = engine.command(options.usualMemoryBytes);
  const ends = openWire(command.acceptsWire ?? false);
  const spawned = spawnCommand(command, ends.stdio, keeper.roll);
  const group = spawned.pid ?? 0;
  const wire = ends.take(spawned);
  const stderr = keepTail(spawned.stderr);
  let pid = command.reportsPid ? 0 : group;
  let isGone = false;
  /** 0 while it is not lowered. Stored, because the engine's pid may be reported later. */
  let priority = 0;
  const child: SandboxChild = {
    get pid() {
      return pid;
    },
    group,
    get isGone() {
      return isGone;
    },
    get hasLowPriority() {
      return priority > 0;
    },
    listener,
    send: createSender(wire),
    lowerPriority(wanted) {
      priority = wanted;
      lowerPriority(pid, wanted);
    },
    restorePriority() {
      // Without a pid its priority was not lowered yet.
      if (priority > 0 && pid > 0 && !restorePriority(pid)) return false;
      priority = 0;
      return true;
    },
    kill: () => isGone || killGroup(group),
  };
  if (command.filter) sendFilter(spawned, command.filter);
  if (command.reportsPid) {
    readPid(spawned, (reported) => {
      pid = reported;
      if (priority > 0) lowerPriority(pid, priority);
    });
  }
  if (group > 0) keeper.keep(group);
  watchEnd(spawned, stderr, (reason) => {
    if (isGone) return;
    if (group > 0) keeper.release(group);
    wire.destroy();
    isGone = true;
    child.listener.gone(reason);
  });
  wire.on("error", () => child.kill());
  wire.on("close", () => child.kill()); // an engine may outlive its connection and would be unreachable
  wire.on("data", createReceiver(options.maxFrameBytes, child));
  return child;
}

function createFailedChild(listener: ChildListener, reason: GloveboxError): SandboxChild {
  let isGone = false;
  const child: SandboxChild = {
    pid: 0,
    group: 0,
    get isGone() {
      return isGone;
    },
    hasLowPriority: false,
    listener,
    send: () => undefined,
    lowerPriority: () => undefined,
    restorePriority: () => true,
    kill: () => undefined,
  };
  setImmediate(() => {
    isGone = true;
    child.listener.gone(reason);
  });
  return child;
}

function notStarted(cause: unknown): GloveboxError {
  if (cause instanceof GloveboxError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (!isOutOfDescriptors(cause)) {
    return new GloveboxError("SANDBOX_UNAVAILABLE", `The sandbox process cannot be started: ${reason}`, { cause });
  }
  const message = `The sandbox process cannot be started with so few open files (${reason})`;
  return new GloveboxError("SANDBOX_UNAVAILABLE", message, { cause, hint: MORE_FILES });
}

/** EINVAL: a descriptor that was inherited is above the limit, and a child cannot be given another in its place. */
function isOutOfDescriptors(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && ["EMFILE", "ENFILE", "EINVAL"].includes(String(cause.code));
}

/** Calls `gone` with the reason; after a failed start possibly twice. */
function watchEnd(spawned: ChildProcess, stderr: () => string, gone: (reason: GloveboxError) => void): void {
  spawned.once("error", (cause) => gone(notStarted(cause)));
  // The started process may end without the engine if it is killed early; the group must not outlive its leader.
  spawned.once("exit", () => killGroup(spawned.pid ?? 0));
  spawned.once("close", (code, signal) => {
    gone(new GloveboxError("SANDBOX_CRASHED", `The sandbox process ended (${signal ?? code}) ${stderr()}`));
  });
}

/**
 * The subshell is killed if the list has no reader, and the child starts anyway. `env -i`, because shells add to the
 * environment.
 */
const ENROL = `(echo "add $$" >&${ROLL_DESCRIPTOR}) 2>/dev/null; exec /usr/bin/env -i "$@" ${ROLL_DESCRIPTOR}>&-`;

/**
 * In a separate process group: Ctrl-C in a terminal reaches only the gateway, which ends its children itself. A gateway
 * that is killed meanwhile may not know the pid yet, so the child registers itself in the keeper's list first.
 */
function spawnCommand(command: ChildCommand, wire: "pipe" | number, roll: number | undefined): ChildProcess {
  const environment = Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  const [file, args] =
    roll === undefined
      ? [command.file, command.args]
      : ["/bin/sh", ["-c", ENROL, "sh", ...environment, command.file, ...command.args]];
  const filter = command.filter ? "pipe" : "ignore";
  const info = command.reportsPid ? "pipe" : "ignore";
  const spawned = spawn(file, args, {
    stdio: hideInherited(["ignore", "ignore", "pipe", wire, filter, info, roll ?? "ignore"]),
    env: ENVIRONMENT,
    cwd: "/",
    detached: true,
  });
  requireStreams(spawned);
  return spawned;
}

/** Throws if there were too few descriptors for the streams of a child: Node then creates none of them. */
export function requireStreams(spawned: ChildProcess): void {
  const stdio: unknown = spawned.stdio;
  if (stdio !== undefined) return;
  spawned.once("error", () => undefined); // it follows, and says the same
  throw notStarted(Object.assign(new Error("spawn EMFILE"), { code: "EMFILE" }));
}

/** The child leads a process group with everything that it starts. */
function killGroup(pid: number): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is already gone.
  }
}

/** A child that breaks the framing is killed at once; nothing after the first bad frame is read. */
function createReceiver(maxFrameBytes: number, child: SandboxChild): (bytes: Buffer) => void {
  const reader = createFrameReader(maxFrameBytes);
  return (bytes) => {
    reader.push(bytes);
    try {
      for (let frame = reader.next(); frame; frame = reader.next()) child.listener.frame(frame);
    } catch (thrown) {
      if (!(thrown instanceof GloveboxError)) throw thrown;
      child.kill();
    }
  };
}

function createSender(wire: Duplex): SandboxChild["send"] {
  let waiting: Buffer[] = [];
  const flush = (): void => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    if (!wire.destroyed) wire.write(bytes);
  };
  return (kind, id, text, atMs) => {
    if (waiting.length === 0) process.nextTick(flush);
    waiting.push(encodeFrame(kind, id, atMs, text));
  };
}

/** Hundreds of these follow a fatal error of V8, whose message comes first. */
const NATIVE_FRAME = /^ *\d+: 0x[0-9a-f]+ .*\n/gm;

/** Keeps the end of a stream, enough for an engine's last error message. */
function keepTail(stream: Readable | null): () => string {
  let tail = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).replaceAll(NATIVE_FRAME, "").slice(-STDERR_BYTES);
  });
  return () => tail;
}

/** bubblewrap reads the filter to its end before it starts anything. */
export function sendFilter({ stdio }: ChildProcess, filter: Buffer): void {
  const stream = stdio[FILTER_DESCRIPTOR];
  if (!(stream instanceof Writable)) throw new TypeError("The child has no pipe for its filter");
  stream.on("error", () => undefined); // it ended first; its exit tells why
  stream.end(filter);
}

/** bubblewrap reports the pid of its child, as seen from outside, in a small JSON object. */
function readPid(spawned: ChildProcess, found: (pid: number) => void): void {
  const stdio: readonly unknown[] = spawned.stdio;
  const stream = stdio[INFO_DESCRIPTOR];
  if (!(stream instanceof Readable)) throw new TypeError("The child has no pipe for its pid");
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(0, STDERR_BYTES);
    const pid = Number(/"child-pid":\s*(\d+)/.exec(text)?.[1]);
    if (pid > 1) found(pid);
  });
}
