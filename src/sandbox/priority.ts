/**
 * Lowers the priority of a child that computes for long, below the gateway, short programs and the operator's other
 * work. On an idle machine the child loses nothing.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** For a program that computes for long: a busy machine leaves it almost nothing. */
export const LOWEST_PRIORITY = 19;
/** For a start that no request waits for yet, but that should still finish on a machine that is always busy. */
export const LOW_PRIORITY = 10;

/** Best effort: where the machine refuses, the child keeps its priority. Never above the gateway's own. */
export function lowerPriority(pid: number, priority: number): void {
  setBoth(pid, Math.max(priority, getPriority()));
}

/** Returns to the gateway's own priority. False if that needs missing privileges: the child must then be replaced. */
export function restorePriority(pid: number): boolean {
  return setBoth(pid, getPriority());
}

/** Linux may schedule whole sessions against each other; then the session's priority counts, not the process's. */
function setBoth(pid: number, priority: number): boolean {
  if (pid <= 1) return false;
  try {
    setPriority(pid, priority);
    if (hasSessionPriority()) writeFileSync(`/proc/${pid}/autogroup`, String(priority));
    return true;
  } catch {
    return false;
  }
}

function hasSessionPriority(): boolean {
  try {
    return readFileSync("/proc/sys/kernel/sched_autogroup_enabled", "latin1").trim() === "1";
  } catch {
    return false;
  }
}
