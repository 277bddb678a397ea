/** The memory of a product: all its processes, as the kernel counts resident pages, shared ones each time. */

import { readFileSync, readdirSync } from "node:fs";

/** Of a process and everything that descends from it. */
export function residentBytes(root: number): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? Number(/^PPid:\s+(\d+)$/m.exec(statusOf(pid))?.[1] ?? 0) : 0;
    if (parent > 0) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const sum = (pid: number): number =>
    (children.get(pid) ?? []).reduce((bytes, child) => bytes + sum(child), bytesOf(pid));
  return sum(root);
}

function bytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(statusOf(pid))?.[1] ?? 0) * 1024;
}

/** Empty when the process has ended. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    return "";
  }
}
