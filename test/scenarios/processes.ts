/** Looks at processes from outside, through `/proc`: who descends from whom, and who is still there. */

import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Every process below this one, as the system lists them now. */
export function listDescendants(pid: number): readonly number[] {
  const children = listChildren(pid);
  return [...children, ...children.flatMap(listDescendants)];
}

function listChildren(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return []; // it has just ended
  }
}

/** A zombie has ended; where nobody collects orphans it stays listed. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** What a process was started with, words joined by spaces. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** Waits until all are gone or the time is up; returns the commands of those that are left. */
export async function untilGone(pids: readonly number[], withinMs: number): Promise<readonly string[]> {
  const deadline = performance.now() + withinMs;
  while (pids.some(isAlive) && performance.now() < deadline) await wait(10);
  return pids.filter(isAlive).map((pid) => `${pid} ${commandOf(pid)}`);
}

/** Waits for something to become true, since starting takes as long as the machine needs. */
export async function until(isTrue: () => boolean, withinMs = 15_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!isTrue()) {
    if (performance.now() > deadline)
      throw new Error(`It did not become true within ${withinMs} ms: ${isTrue.toString()}`);
    await wait(10);
  }
}
