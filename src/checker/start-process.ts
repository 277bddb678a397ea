/** Starts the checker's process and carries requests and replies. Independent of programs. */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

import type { ChildKeeper } from "../domain/index.ts";
import { createLineReader, parseCheckerReply } from "./wire.ts";
import type { CheckerReply, CheckerRequest } from "./wire.ts";

/** When run from source, the script of the last build: the process runs plain JavaScript. */
export const CHILD = fileURLToPath(
  import.meta.url.endsWith(".ts")
    ? new URL("../../dist/checker/child/main.js", import.meta.url)
    : new URL("./child/main.js", import.meta.url),
);

/** A small heap, because types are in the native compiler; no signal may open the inspector. */
const FLAGS = ["--no-warnings", "--max-old-space-size=128", "--disable-sigusr1"];
/** No valid reply is longer; a process that sends more is killed. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

export interface CheckerProcess {
  readonly pid: number;
  readonly isGone: boolean;
  /** One request at a time; rejects if the process ends before it replies. */
  ask(request: CheckerRequest): Promise<CheckerReply>;
  /** Resolves when the process and its children are gone. */
  kill(): Promise<void>;
}

export interface CheckerProcessOptions {
  readonly node: string;
  readonly script: string;
  readonly keeper: ChildKeeper;
}

/** The process has an empty environment and leads a process group that includes the native compiler. */
export function startCheckerProcess({ node, script, keeper }: CheckerProcessOptions): CheckerProcess {
  const spawned = spawn(node, [...FLAGS, script], {
    stdio: ["pipe", "pipe", "ignore"],
    env: {},
    cwd: "/",
    detached: true,
  });
  const pid = spawned.pid ?? 0;
  const gone = Promise.withResolvers<void>();
  let isGone = false;
  let waiting: { readonly id: number; readonly settle: PromiseWithResolvers<CheckerReply> } | undefined;
  const leave = (): void => {
    if (isGone) return;
    isGone = true;
    killGroup(pid);
    if (pid > 0) keeper.release(pid);
    waiting?.settle.reject(new Error("The checker's process ended"));
    gone.resolve();
  };
  if (pid > 0) keeper.keep(pid);
  spawned.once("error", leave);
  spawned.once("exit", leave);
  listen(spawned, pid, (answer) => {
    if (answer.id === waiting?.id) waiting.settle.resolve(answer);
  });
  letGo(spawned);
  return {
    pid,
    get isGone() {
      return isGone;
    },
    ask(request) {
      const settle = Promise.withResolvers<CheckerReply>();
      waiting = { id: request.id, settle };
      if (isGone) settle.reject(new Error("The checker's process ended"));
      else spawned.stdin.write(`${JSON.stringify(request)}\n`);
      return settle.promise;
    },
    async kill() {
      if (isGone) return;
      spawned.ref(); // keeps this process alive until the end is seen
      killGroup(pid);
      await gone.promise;
    },
  };
}

function listen(spawned: ChildProcess, pid: number, use: (answer: CheckerReply) => void): void {
  let unanswered = 0;
  const read = createLineReader((line) => {
    unanswered = 0;
    const answer = parseCheckerReply(line);
    if (answer) use(answer);
    else killGroup(pid);
  });
  spawned.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    unanswered += chunk.length;
    if (unanswered > MAX_ANSWER_CHARS) killGroup(pid);
    else read(chunk);
  });
  // The pipe breaks if the process dies; its `exit` event is handled instead.
  spawned.stdin?.on("error", () => undefined);
}

/** An idle checker does not keep the gateway alive. */
function letGo(spawned: ChildProcess): void {
  spawned.unref();
  for (const stream of [spawned.stdin, spawned.stdout]) {
    if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}

function killGroup(pid: number): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is already gone.
  }
}
