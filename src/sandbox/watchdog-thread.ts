/** The thread of `watchdog.ts`: looks at each watched child, and kills its process group above a limit. */

import { parentPort, workerData } from "node:worker_threads";

import { measureProcess } from "./measure.ts";
import { EXCEEDED, readClock } from "./watchdog.ts";
import type { Exceeded, WatchOrder, WatchRecord, WatchThreadData } from "./watchdog.ts";

const LOOK_MS = 20;
/** Looks without anything to watch, before the thread waits to be told. */
const IDLE_LOOKS = 50;

const { sleeps }: WatchThreadData = workerData;
const records: WatchRecord[] = [];
let looks: NodeJS.Timeout | undefined;
let idleLooks = 0;

parentPort?.on("message", ({ record }: WatchOrder) => {
  if (record) records.push(record);
  Atomics.store(sleeps, 0, 0);
  looks ??= setInterval(lookAtAll, LOOK_MS);
});

function lookAtAll(): void {
  for (const record of records) look(record);
  idleLooks = records.some(isWatched) ? 0 : idleLooks + 1;
  if (idleLooks < IDLE_LOOKS) return;
  idleLooks = 0;
  Atomics.store(sleeps, 0, 1);
  // The gateway may have written a turn before it could see that it must tell.
  if (records.some(isWatched)) return void Atomics.store(sleeps, 0, 0);
  clearInterval(looks);
  looks = undefined;
}

function look(record: WatchRecord): void {
  const { turn, figures } = record;
  const own = Atomics.load(turn, 0);
  if (!isTurn(own)) return;
  const limit = findExceeded(record);
  const [group = 0] = figures;
  if (limit === undefined) return;
  // The figures were those of another watch unless the turn is still the same. Written before the kill, so that the
  // gateway finds the cause of the death.
  if (Atomics.compareExchange(turn, 0, own, -(EXCEEDED.indexOf(limit) + 1)) === own) kill(group);
}

function isWatched({ turn }: WatchRecord): boolean {
  return isTurn(Atomics.load(turn, 0));
}

function isTurn(turn: number): boolean {
  return turn % 2 === 1;
}

function findExceeded({ figures }: WatchRecord): Exceeded | undefined {
  const [, pid = 0, endsAt = 0, cpuMs = 0, residentBytes = 0] = figures;
  if (readClock() > endsAt) return "wall";
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
