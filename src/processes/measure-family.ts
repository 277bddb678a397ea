/** The memory of a child process and of what it started, from the kernel. */

import { readFileSync } from "node:fs";

/** Resident bytes of `pid` and its direct children; `undefined` without /proc, or if the process is gone. */
export function measureFamily(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ");
    return [String(pid), ...children].reduce((sum, one) => sum + residentBytes(one), 0);
  } catch {
    return undefined;
  }
}

function residentBytes(pid: string): number {
  if (pid === "") return 0;
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
