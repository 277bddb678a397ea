/** Starts one sandbox child and carries frames to and from it. Knows nothing of executions. */

import { spawn } from "node:child_process";
import type { Duplex, Readable } from "node:stream";

import { GloveboxError } from "../domain/index.ts";
import type { ChildKeeper } from "../domain/index.ts";

import type { Engine } from "./engine.ts";
import { createFrameReader, encodeFrame } from "./frames.ts";
import type { Frame } from "./frames.ts";

const DESCRIPTOR = 3;
const STDERR_BYTES = 4_096;

export interface ChildOptions {
  readonly engine: Engine;
  readonly keeper: ChildKeeper;
  readonly usualMemoryBytes: number;
  /** A longer frame from the child ends it: no honest child sends one. */
  readonly maxFrameBytes: number;
}

export interface ChildListener {
  frame(frame: Frame): void;
  /** The process is gone; called once, after the last frame. */
  gone(reason: GloveboxError): void;
}

export interface Child {
  readonly pid: number;
  /** Who is told; replaced whenever the child changes hands. */
  listener: ChildListener;
  /** Frames of one turn of the event loop leave in one write. */
  send(kind: number, id: number, text: string, atMs: number): void;
  kill(): void;
}

export function startChild(options: ChildOptions, listener: ChildListener): Child {
  const { file, args } = options.engine.command(options.usualMemoryBytes);
  // A group of its own: Ctrl-C in a terminal is for the gateway, which then ends its children itself.
  const spawned = spawn(file, args, {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    env: { TZ: "UTC", LC_ALL: "en_US.UTF-8" },
    cwd: "/",
    detached: true,
  });
  const pid = spawned.pid ?? 0;
  const wire = spawned.stdio[DESCRIPTOR] as Duplex;
  const stderr = keepTail(spawned.stderr);
  const child: Child = {
    pid,
    listener,
    send: createSender(wire),
    kill: () => void spawned.kill("SIGKILL"),
  };
  if (pid > 0) options.keeper.keep(pid);

  const leave = once((reason: GloveboxError) => {
    if (pid > 0) options.keeper.release(pid);
    wire.destroy();
    child.listener.gone(reason);
  });
  spawned.once("error", (cause) => {
    leave(
      new GloveboxError("SANDBOX_UNAVAILABLE", `The sandbox process cannot be started: ${cause.message}`, { cause }),
    );
  });
  spawned.once("close", (code, signal) => {
    leave(new GloveboxError("SANDBOX_CRASHED", `The sandbox process ended (${signal ?? code}) ${stderr()}`));
  });
  wire.on("error", () => child.kill());
  wire.on("data", createReceiver(options.maxFrameBytes, child));
  return child;
}

/** A peer that breaks the framing is ended at once; nothing after the first bad frame is read. */
function createReceiver(maxFrameBytes: number, child: Child): (bytes: Buffer) => void {
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

function createSender(wire: Duplex): Child["send"] {
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

/** The end of what a stream says: enough to name an engine's last words, never more. */
function keepTail(stream: Readable | null): () => string {
  let tail = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-STDERR_BYTES);
  });
  return () => tail;
}

function once<T>(act: (value: T) => void): (value: T) => void {
  let done = false;
  return (value) => {
    if (done) return;
    done = true;
    act(value);
  };
}
