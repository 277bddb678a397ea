/**
 * Keeps a list of child processes in another process, which kills their groups when this one is gone. It starts only
 * `/bin/sh` with a fixed script, and only signals pids that it was given.
 */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

import type { ChildKeeper, Instant } from "../domain/index.ts";

import { REAPER_SCRIPT } from "./reaper-script.ts";

/** A shell that ends sooner after its start is not started again. */
const SHORTEST_LIFE_MS = 1000;

export interface ReaperOptions {
  /** Distinguishes a shell that was killed from one that cannot run. */
  readonly now?: () => Instant;
  readonly platform?: NodeJS.Platform;
}

/**
 * Disposing kills the children that are still listed, as the death of the gateway does. An open reaper does not keep
 * the gateway's process alive.
 */
export interface Reaper extends ChildKeeper, AsyncDisposable {
  /** False without `/bin/sh`: children may then outlive a gateway that was killed with SIGKILL. */
  readonly supported: boolean;
}

/** Starts the shell in its own session, so that a terminal's Ctrl-C does not reach it. */
export function openReaper(options: ReaperOptions = {}): Reaper {
  const now = options.now ?? Date.now;
  const kept = new Set<number>();
  let shell = (options.platform ?? process.platform) === "win32" ? undefined : startShell(kept);
  let startedAt = now();
  let closed = false;

  function watch(watched: ChildProcess | undefined): void {
    watched?.once("error", () => replace());
    watched?.once("exit", () => replace());
  }

  /** A killed shell would leave children unguarded, so a new one gets the list. */
  function replace(): void {
    if (closed || shell === undefined) return;
    const isBroken = now() - startedAt < SHORTEST_LIFE_MS;
    shell = isBroken ? undefined : startShell(kept);
    startedAt = now();
    watch(shell);
  }

  watch(shell);
  return {
    get supported() {
      return shell !== undefined;
    },
    get roll() {
      return findDescriptor(shell);
    },
    keep(pid) {
      checkPid(pid);
      if (kept.has(pid)) return;
      kept.add(pid);
      tell(shell, `add ${pid}\n`);
    },
    release(pid) {
      if (kept.delete(pid)) tell(shell, `drop ${pid}\n`);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      if (shell) await endShell(shell);
    },
  };
}

/** A wrong number would signal other processes: 0 and 1 mean whole sets of them. */
function checkPid(pid: number): void {
  if (!Number.isSafeInteger(pid) || pid < 2) throw new TypeError(`Not the pid of a child process: ${pid}`);
}

function startShell(kept: ReadonlySet<number>): ChildProcess {
  const shell = spawn("/bin/sh", ["-c", REAPER_SCRIPT], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {},
    cwd: "/",
  });
  shell.unref();
  // The pipe breaks when the shell dies first; its `exit` event is handled instead.
  shell.stdin?.on("error", () => undefined);
  for (const pid of kept) tell(shell, `add ${pid}\n`);
  return shell;
}

/** Node has no public API for it. */
function findDescriptor(shell: ChildProcess | undefined): number | undefined {
  const handle: unknown = shell?.stdin ? Reflect.get(shell.stdin, "_handle") : undefined;
  const fd: unknown = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  return typeof fd === "number" && fd > 2 ? fd : undefined;
}

function tell(shell: ChildProcess | undefined, line: string): void {
  if (shell?.stdin?.writable) shell.stdin.write(line);
}

async function endShell(shell: ChildProcess): Promise<void> {
  if (shell.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
  shell.ref();
  const ended = once(shell, "exit");
  shell.stdin?.end();
  await ended;
}
