/** The kernel's own caps on a child's memory and threads, set once the engine is up: what it needs then, and a margin. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { release } from "node:os";

/** Collection, compiled code and buffers beside a program's own data. */
const MARGIN_BYTES = 64 * 1024 * 1024;
/** An engine has about a dozen. The kernel counts them within the child's own user namespace, and spares root. */
const MOST_THREADS = 64;

/** False when the cap could not be set; such a child may not be used where one was promised. */
export function capMemory(prlimit: string, pid: number, memoryBytes: number): Promise<boolean> {
  const present = readDataBytes(pid);
  if (present === undefined) return Promise.resolve(false);
  const data = `--data=${present + memoryBytes + MARGIN_BYTES}`;
  const threads = countsByNamespace(release()) ? [`--nproc=${MOST_THREADS}`] : [];
  const args = ["--pid", String(pid), data, ...threads];
  return new Promise((resolve) => {
    const child = spawn(prlimit, args, { stdio: "ignore", env: {}, cwd: "/" });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}

/** Before Linux 5.14 the count was of everything that the user runs on the machine, which would starve the engine. */
function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14);
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
