/** Starts one sandbox child and carries frames to and from it. Independent of executions. */

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
import { hideInherited } from "./hide-inherited.ts";
import { openWire } from "./open-wire.ts";
import type { WireEnds } from "./open-wire.ts";
import { lowerPriority, restorePriority } from "./priority.ts";

const STDERR_BYTES = 4_096;
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

export function startChild(options: ChildOptions, listener: ChildListener): SandboxChild {
  const command = options.engine.command(options.usualMemoryBytes);
  const ends = openWire(command.acceptsWire ?? false);
  const { roll } = options.keeper;
  const spawned = spawnCommand(enrol(command, roll), ends.stdio, roll);
  const pid = spawned.pid ?? 0;
  const stdio: readonly unknown[] = spawned.stdio;
  const wire = ends.take(spawned);
  const stderr = keepTail(spawned.stderr);
  const engine = { pid: command.reportsPid ? 0 : pid, isGone: false, lowered: 0 };
  if (command.filter) endWith(stdio[FILTER_DESCRIPTOR], command.filter);
  if (command.reportsPid) {
    readPid(stdio[INFO_DESCRIPTOR], (reported) => {
      engine.pid = reported;
      if (engine.lowered > 0) lowerPriority(reported, engine.lowered);
    });
  }
  const child: SandboxChild = {
    get pid() {
      return engine.pid;
    },
    get isGone() {
      return engine.isGone;
    },
    get hasLowPriority() {
      return engine.lowered > 0;
    },
    listener,
    send: createSender(wire),
    ...createPriorityControl(engine),
    kill: () => engine.isGone || killGroup(pid),
  };
  if (pid > 0) options.keeper.keep(pid);

  const leave = once((reason: GloveboxError) => {
    if (pid > 0) options.keeper.release(pid);
    wire.destroy();
    engine.isGone = true;
    child.listener.gone(reason);
  });
  spawned.once("error", (cause) => {
    leave(
      new GloveboxError("SANDBOX_UNAVAILABLE", `The sandbox process cannot be started: ${cause.message}`, { cause }),
    );
  });
  // The started process may end without the engine if it is killed early; the group must not outlive its leader.
  spawned.once("exit", () => killGroup(pid));
  spawned.once("close", (code, signal) => {
    leave(new GloveboxError("SANDBOX_CRASHED", `The sandbox process ended (${signal ?? code}) ${stderr()}`));
  });
  wire.on("error", () => child.kill());
  wire.on("close", () => child.kill()); // an engine may outlive its connection and would be unreachable
  wire.on("data", createReceiver(options.maxFrameBytes, child));
  return child;
}

/** The engine's pid may be reported later; until then only the wanted priority is stored. */
function createPriorityControl(engine: {
  readonly pid: number;
  lowered: number;
}): Pick<SandboxChild, "lowerPriority" | "restorePriority"> {
  return {
    lowerPriority(priority) {
      engine.lowered = priority;
      lowerPriority(engine.pid, priority);
    },
    restorePriority() {
      // Without a pid its priority was not lowered yet.
      if (engine.lowered > 0 && engine.pid > 0 && !restorePriority(engine.pid)) return false;
      engine.lowered = 0;
      return true;
    },
  };
}

/**
 * The subshell is killed if the list has no reader, and the child starts anyway. `env -i`, because shells add to the
 * environment.
 */
const ENROL = `(echo "add $$" >&${ROLL_DESCRIPTOR}) 2>/dev/null; exec /usr/bin/env -i "$@" ${ROLL_DESCRIPTOR}>&-`;

/**
 * A gateway that is killed while a child starts may not know its pid yet, so the child registers itself before anything
 * else.
 */
function enrol(command: ChildCommand, roll: number | undefined): ChildCommand {
  if (roll === undefined) return command;
  const environment = Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  return { ...command, file: "/bin/sh", args: ["-c", ENROL, "sh", ...environment, command.file, ...command.args] };
}

/** In a separate process group: Ctrl-C in a terminal reaches only the gateway, which ends its children itself. */
function spawnCommand(
  { file, args, filter, reportsPid }: ChildCommand,
  wire: WireEnds["stdio"],
  roll: number | undefined,
): ChildProcess {
  return spawn(file, args, {
    stdio: hideInherited([
      "ignore",
      "ignore",
      "pipe",
      wire,
      filter ? "pipe" : "ignore",
      reportsPid ? "pipe" : "ignore",
      roll ?? "ignore",
    ]),
    env: ENVIRONMENT,
    cwd: "/",
    detached: true,
  });
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

/** Keeps the end of a stream, enough for an engine's last error message. */
function keepTail(stream: Readable | null): () => string {
  let tail = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-STDERR_BYTES);
  });
  return () => tail;
}

/** bubblewrap reads the filter to its end before it starts anything. */
function endWith(stream: unknown, bytes: Buffer): void {
  if (!(stream instanceof Writable)) throw new TypeError("The child has no pipe for its filter");
  stream.on("error", () => undefined); // it ended first; its exit tells why
  stream.end(bytes);
}

/** bubblewrap reports the pid of its child, as seen from outside, in a small JSON object. */
function readPid(stream: unknown, found: (pid: number) => void): void {
  if (!(stream instanceof Readable)) throw new TypeError("The child has no pipe for its pid");
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(0, STDERR_BYTES);
    const pid = Number(/"child-pid":\s*(\d+)/.exec(text)?.[1]);
    if (pid > 1) found(pid);
  });
}

function once<T>(act: (value: T) => void): (value: T) => void {
  let done = false;
  return (value) => {
    if (done) return;
    done = true;
    act(value);
  };
}
