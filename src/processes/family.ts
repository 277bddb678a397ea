/** A child process with what it started: its memory, and its end. Reads /proc; without it, it finds nothing. */

import { readFileSync, readdirSync } from "node:fs";

import { findStart } from "./name-process.ts";

/** More descendants are not followed: the walk runs on the gateway's own thread. */
const MAX_FAMILY = 1000;

/** Resident bytes of `pid` and its direct children; `undefined` without /proc, or if the process is gone. */
export function measureFamily(pid: number): number | undefined {
  try {
    return [pid, ...listChildren(pid)].reduce((sum, one) => sum + residentBytes(one), 0);
  } catch {
    return undefined;
  }
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/**
 * Finds the processes that a child started, also those that left its group and session, and ends them after the child.
 * A pid may be reused, so each process is remembered with its start time.
 */
export function watchFamily(pid: number) {
  const starts = new Map<number, string>();
  return {
    look() {
      for (const one of listDescendants(pid)) starts.set(one, findStart(one));
    },
    end() {
      for (const [one, start] of starts) if (start !== "" && findStart(one) === start) kill(one);
    },
  };
}

function listDescendants(pid: number): ReadonlySet<number> {
  const found = new Set([pid]);
  for (const one of found) {
    if (found.size > MAX_FAMILY) break;
    for (const child of listChildren(one)) found.add(child);
  }
  found.delete(pid);
  return found;
}

/** Each thread has the children that it started. */
function listChildren(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return []; // it has just ended
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime, or the pid belongs to another user now.
  }
}
