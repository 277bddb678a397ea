/**
 * Keeps a list of child processes in another process, which kills their groups when this one is gone. It starts only
 * `/bin/sh` with a fixed script, and only signals pids that it was given.
 */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

import type { ChildKeeper, Instant } from "../domain/index.ts";

/** A shell that ends sooner after its start is not started again. */
const SHORTEST_LIFE_MS = 1000;

/**
 * Disposing kills the children that are still listed, as the death of the gateway does. An open reaper does not keep
 * the gateway's process alive.
 */
export interface Reaper extends ChildKeeper, AsyncDisposable {
  /** False without `/bin/sh`: children may then outlive a gateway that was killed with SIGKILL. */
  readonly supported: boolean;
}

/**
 * Starts the shell in its own session, so that a terminal's Ctrl-C does not reach it. The clock distinguishes a shell
 * that was killed from one that cannot run.
 */
export function openReaper({
  now = Date.now,
  platform = process.platform,
}: { readonly now?: () => Instant; readonly platform?: NodeJS.Platform } = {}): Reaper {
  const kept = new Set<number>();
  let shell = platform === "win32" ? undefined : startShell(kept);
  let startedAt = now();
  let closed = false;

  function watch(): void {
    shell?.once("error", replace);
    shell?.once("exit", replace);
  }

  /** A killed shell would leave children unguarded, so a new one gets the list. */
  function replace(): void {
    if (closed || shell === undefined) return;
    const isBroken = now() - startedAt < SHORTEST_LIFE_MS;
    shell = isBroken ? undefined : startShell(kept);
    startedAt = now();
    watch();
  }

  watch();
  return {
    get supported() {
      return shell !== undefined;
    },
    get roll() {
      return findDescriptor(shell);
    },
    keep(pid) {
      // A wrong number would signal other processes: 0 and 1 mean whole sets of them.
      if (!Number.isSafeInteger(pid) || pid < 2) throw new TypeError(`Not the pid of a child process: ${pid}`);
      if (kept.has(pid)) return;
      kept.add(pid);
      tell(shell, `add ${pid}\n`);
    },
    release(pid) {
      if (kept.delete(pid)) tell(shell, `drop ${pid}\n`);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      if (shell?.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
      shell.ref();
      const ended = once(shell, "exit");
      shell.stdin?.end();
      await ended;
    },
  };
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

/**
 * Outlives the gateway just long enough to clean up after it. Plain POSIX sh, builtins only, so it starts in a
 * millisecond and needs a megabyte. Reads `add PID` and `drop PID` lines; at end of file it kills the process group of
 * every number still kept.
 *
 * The kernel closes the pipe whenever the gateway ends, `kill -9` included, so end of file is the one signal that
 * cannot be missed. Signals meant for a whole service are ignored: the reaper has to survive them to do its work.
 * The list is one string, `,12,34,`, that is only ever cut by quoted patterns, so its length does not matter. A line
 * cut off by the gateway's death fails `read` and is dropped. A number may be added twice, by itself and by the gateway.
 * `0`, `1` and leading zeros are refused because `kill -- -1` means every process of the user.
 */
const REAPER_SCRIPT = `
trap '' HUP INT QUIT TERM
kept=,
while read -r verb pid; do
  case $pid in
    '' | *[!0-9]* | 0* | 1) continue ;;
  esac
  case $verb in
    add)
      case $kept in
        *",$pid,"*) ;;
        *) kept=$kept$pid, ;;
      esac
      ;;
    drop)
      case $kept in
        *",$pid,"*) kept=\${kept%%",$pid,"*},\${kept#*",$pid,"} ;;
      esac
      ;;
  esac
done
kept=\${kept#,}
while [ -n "$kept" ]; do
  pid=\${kept%%,*}
  kept=\${kept#*,}
  kill -s KILL -- "-$pid"
done
`;
