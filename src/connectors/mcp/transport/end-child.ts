/** Ends a child server and everything that it started, politely first. */

import type { ChildProcess } from "node:child_process";
import { settlesWithin } from "../../../timing/index.ts";

/** How long a server has to leave by itself after its input ended, and again after SIGTERM. */
const PATIENCE_MS = 500;

/**
 * Closes its input, then asks the whole group to end, then kills it. Resolves when the child has exited. `look` is
 * called before each step, while it can still be seen what the child started.
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
 * Signals the group whose leader the child is or was. Members that the leader left behind keep the group's number
 * taken, so a number that still answers is still ours.
 */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // No such group: everyone has left. Where there are no groups, the child alone is signalled.
    child.kill(signal);
  }
}

/** Unlike `once` of `node:events` it never rejects: an `error` of the child must not look like its end. */
export function untilEvent(child: ChildProcess, event: "exit" | "close"): Promise<void> {
  return new Promise((resolve) => child.once(event, () => resolve()));
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
