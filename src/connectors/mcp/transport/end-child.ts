/** Ends a child server and everything that it started, gracefully first. */

import type { ChildProcess } from "node:child_process";
import { settlesWithin } from "../../../timing/index.ts";

/** How long a server may take to exit after its input ended, and again after SIGTERM. */
const PATIENCE_MS = 500;

/**
 * Closes its input, then sends SIGTERM to the whole group, then SIGKILL. Resolves when the child has exited. Calls
 * `look` before each step, while the processes that the child started can still be found.
 */
export async function endChild(child: ChildProcess, look: () => void): Promise<void> {
  if (hasExited(child)) return;
  const exited = untilEvent(child, "exit");
  look();
  child.stdin?.end();
  if (await settlesWithin(exited, PATIENCE_MS)) return;
  look();
  signalGroup(child, "SIGTERM");
  if (await settlesWithin(exited, PATIENCE_MS)) return;
  look();
  signalGroup(child, "SIGKILL");
  await exited;
}

/**
 * Signals the group that the child leads or led. Processes that it left behind keep the group's number in use, so a
 * number that still exists is still ours.
 */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // All processes of the group have exited, or the platform has no groups: only the child gets the signal.
    child.kill(signal);
  }
}

/** Never rejects, unlike `once` of `node:events`: an `error` of the child must not look like its exit. */
export function untilEvent(child: ChildProcess, event: "exit" | "close"): Promise<void> {
  return new Promise((resolve) => child.once(event, () => resolve()));
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
