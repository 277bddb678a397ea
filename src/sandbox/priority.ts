/**
 * Lets a child that computes for long give way to everybody else on the machine: to the gateway, to short programs and
 * to the operator's other work. Alone on the machine it loses nothing.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** For what computes for long: a machine with other work leaves it next to nothing. */
export const LAST = 19;
/** For what nobody waits for yet and should be done all the same, also on a machine that is always busy. */
export const BEHIND = 10;
const USUAL = 0;

/** Best effort: a machine that refuses keeps the child as it is. */
export function lowerPriority(pid: number, priority: number): void {
  change(pid, priority);
}

/** False when the child cannot be raised again, which takes privileges: it must then be replaced. */
export function restorePriority(pid: number): boolean {
  return change(pid, USUAL);
}

/** Linux may schedule whole sessions against each other, and then the session's number counts, not the process's. */
function change(pid: number, priority: number): boolean {
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
