/**
 * Keeps a list of child processes in another process, which kills their groups once this one is gone.
 * It starts nothing but `/bin/sh` with a fixed program, and only ever signals numbers that it was given.
 */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

import type { ChildKeeper, Instant } from "../domain/index.ts";

import { REAPER_SCRIPT } from "./reaper-script.ts";

/** A shell that ends sooner than this after its start is not started again. */
const SHORTEST_LIFE_MS = 1000;

export interface ReaperOptions {
  /** Used only to tell a shell that somebody killed from one that cannot run. */
  readonly now?: () => Instant;
  readonly platform?: NodeJS.Platform;
}

/**
 * Disposing it kills what is still kept: the same road as the death of the gateway.
 * An open reaper does not keep the gateway's process alive.
 */
export interface Reaper extends ChildKeeper, AsyncDisposable {
  /** False where there is no `/bin/sh`: children may then outlive a gateway that was killed hard. */
  readonly supported: boolean;
}

/** Starts the reaper's shell in a session of its own, so that a terminal's Ctrl-C does not reach it. */
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

  /** A shell that was killed by someone would leave children unguarded, so a new one takes over the list. */
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
      return parseDescriptor(shell);
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

/** A wrong number here would signal strangers: 0 and 1 stand for whole sets of processes. */
function checkPid(pid: number): void {
  if (!Number.isSafeInteger(pid) || pid < 2) throw new TypeError(`Not the number of a child process: ${pid}`);
}

function startShell(kept: ReadonlySet<number>): ChildProcess {
  const shell = spawn("/bin/sh", ["-c", REAPER_SCRIPT], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {},
    cwd: "/",
  });
  shell.unref();
  // The pipe breaks when the shell dies first; its `exit` event is what is acted on.
  shell.stdin?.on("error", () => undefined);
  for (const pid of kept) tell(shell, `add ${pid}\n`);
  return shell;
}

/** Node keeps it to itself. */
function parseDescriptor(shell: ChildProcess | undefined): number | undefined {
  const { _handle: handle } = (shell?.stdin ?? {}) as { readonly _handle?: { readonly fd?: number } | null };
  return handle?.fd !== undefined && handle.fd > 2 ? handle.fd : undefined;
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
