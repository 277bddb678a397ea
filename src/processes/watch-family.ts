/**
 * Finds the processes that a child started, also those that left its group and session, and ends them after the child.
 * Reads /proc; without it, it finds none.
 */

import { readFileSync, readdirSync } from "node:fs";

import type { FamilyWatch } from "../domain/index.ts";

/** More descendants are not followed: the walk runs on the gateway's own thread. */
const MAX_FAMILY = 1000;
/** Among the fields after the command's name in `/proc/PID/stat`: `starttime`, in ticks since the machine started. */
const START_FIELD = 19;

/** A pid may be reused, so each process is remembered with its start time. */
export function watchFamily(pid: number): FamilyWatch {
  const seen = new Map<number, string>();
  return {
    look() {
      for (const one of listDescendants(pid)) {
        const startedAt = findStart(one);
        if (startedAt !== undefined) seen.set(one, startedAt);
      }
    },
    end() {
      for (const [one, startedAt] of seen) if (findStart(one) === startedAt) kill(one);
    },
  };
}

function listDescendants(pid: number): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [pid];
  for (let next = open.pop(); next !== undefined && found.size < MAX_FAMILY; next = open.pop()) {
    for (const child of listChildren(next)) {
      if (found.has(child)) continue;
      found.add(child);
      open.push(child);
    }
  }
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

/** The command's name is in brackets and may contain any characters, also brackets. */
function findStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD];
  } catch {
    return undefined;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime, or the pid belongs to another user now.
  }
}
