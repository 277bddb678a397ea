/** The kernel's own cap on a child's memory, set once the engine is up: what it needs then, and what a program may add. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Collection, compiled code and buffers beside a program's own data. */
const MARGIN_BYTES = 64 * 1024 * 1024;

/** False when the cap could not be set; such a child may not be used where one was promised. */
export function capMemory(prlimit: string, pid: number, memoryBytes: number): Promise<boolean> {
  const present = readDataBytes(pid);
  if (present === undefined) return Promise.resolve(false);
  const args = ["--pid", String(pid), `--data=${present + memoryBytes + MARGIN_BYTES}`];
  return new Promise((resolve) => {
    const child = spawn(prlimit, args, { stdio: "ignore", env: {}, cwd: "/" });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}

/** Private writable memory, which is what RLIMIT_DATA counts. */
function readDataBytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
