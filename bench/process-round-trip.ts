/**
 * The baseline for everything that crosses processes: how long this machine takes to wake another process and be woken
 * by it.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";

/** Echoes every message. */
const ECHO = `const { readSync, writeSync } = require("node:fs");
const bytes = Buffer.alloc(4096);
for (let size = readSync(0, bytes); size > 0; size = readSync(0, bytes)) writeSync(1, bytes.subarray(0, size));`;

/** Both sides are idle for this long between two messages, because a process that just slept wakes more slowly. */
const BETWEEN_MS = 0.3;

/** Sends a short message to a waiting process and back. Returns the median in milliseconds. */
export async function timeHop(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ECHO], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const times: number[] = [];
  for (let hop = 0; hop < 1_000; hop += 1) {
    const restedUntil = performance.now() + BETWEEN_MS;
    while (performance.now() < restedUntil);
    const startedAt = performance.now();
    child.stdin.write("x");
    await once(child.stdout, "data");
    times.push(performance.now() - startedAt);
  }
  child.stdin.end();
  await ended;
  return times.toSorted((a, b) => a - b)[times.length / 2] ?? Number.NaN;
}
