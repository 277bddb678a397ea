/** The thread of `watchdog.ts`: looks at each watched child, and kills its process group above a limit. */

import { parentPort } from "node:worker_threads";

import { measureProcess } from "./measure.ts";
import { EXCEEDED } from "./watchdog.ts";
import type { Exceeded, WatchOrder, WatchTarget } from "./watchdog.ts";

const LOOK_MS = 20;

interface WatchedChild extends WatchTarget {
  readonly verdict: Int32Array;
  readonly endsAt: number;
}

const watched = new Map<number, WatchedChild>();
let looks: NodeJS.Timeout | undefined;

parentPort?.on("message", (order: WatchOrder) => {
  switch (order.kind) {
    case "watch":
      watched.set(order.id, { ...order, endsAt: performance.now() + order.wallMs });
      break;
    case "stop":
      watched.delete(order.id);
      break;
    default:
      order satisfies never;
  }
  if (watched.size > 0) {
    looks ??= setInterval(lookAtAll, LOOK_MS);
  } else {
    clearInterval(looks);
    looks = undefined;
  }
});

function lookAtAll(): void {
  for (const [id, child] of watched) {
    const limit = findExceeded(child);
    if (limit === undefined) continue;
    watched.delete(id);
    // Before the kill, so that the gateway finds the cause of the death.
    Atomics.store(child.verdict, 0, EXCEEDED.indexOf(limit) + 1);
    kill(child.group);
  }
}

function findExceeded({ pid, endsAt, cpuMs, residentBytes }: WatchedChild): Exceeded | undefined {
  if (performance.now() > endsAt) return "wall";
  const measure = measureProcess(pid);
  if (measure && measure.cpuMs > cpuMs) return "cpu";
  return measure && measure.residentBytes > residentBytes ? "memory" : undefined;
}

function kill(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The group is already gone.
  }
}
