/** What is checked and set from outside before a new child gets its first program. */

import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { release } from "node:os";

import type { Readiness } from "../engine.ts";

/** Memory for garbage collection, compiled code and buffers besides a program's own data. */
const MARGIN_BYTES = 64 * 1024 * 1024;
/** An engine has about a dozen. The kernel counts them within the child's own user namespace, and spares root. */
const MOST_THREADS = 64;
/** RLIMIT_DATA and RLIMIT_NPROC. */
const DATA = 2;
const THREADS = 6;

/**
 * Checks the filters of a child from outside and sets the kernel's caps on its memory and threads once the engine is up:
 * what it needs then, and a margin. False if that fails; such a child may not be used.
 */
export function makeReady(readiness: Readiness, pid: number, memoryBytes: number): Promise<boolean> {
  const present = readDataBytes(pid);
  if (present === undefined || !hasFilters(pid, readiness.filters)) return Promise.resolve(false);
  const limitsThreads = readiness.limitsThreads && countsByNamespace(release());
  const limits = [
    `${DATA}:${present + memoryBytes + MARGIN_BYTES}`,
    ...(limitsThreads ? [`${THREADS}:${MOST_THREADS}`] : []),
  ];
  const args = ["-p", String(pid), ...limits.flatMap((limit) => ["-l", limit])];
  return new Promise((resolve) => {
    const child = spawn(readiness.launcher, args, { stdio: "ignore", env: {}, cwd: "/" });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}

/** Every thread has as many seccomp filters more than this process. True before Linux 5.9, which does not report them. */
function hasFilters(pid: number, filters: number): boolean {
  const own = countFilters("/proc/self/status");
  if (own === undefined) return true;
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.every((thread) => (countFilters(`/proc/${pid}/task/${thread}/status`) ?? 0) >= own + filters);
  } catch {
    return false;
  }
}

function countFilters(file: string): number | undefined {
  const count = /^Seccomp_filters:\s+(\d+)$/m.exec(readFileSync(file, "latin1"))?.[1];
  return count === undefined ? undefined : Number(count);
}

/** Before Linux 5.14 the kernel counted all threads of the user on the machine, which would starve the engine. */
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
