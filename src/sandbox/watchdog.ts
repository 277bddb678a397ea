/**
 * Kills children above their limits from a separate thread. A program can make the gateway's thread late, and that
 * must not lengthen its limits or those of others. The gateway's own watch of a program usually comes first.
 */

import { Worker } from "node:worker_threads";

/** In the order of their codes in a verdict, from 1. */
export const EXCEEDED = ["wall", "cpu", "memory"] as const;
export type Exceeded = (typeof EXCEEDED)[number];

/** A child, and what it may have used when it is looked at. */
export interface WatchTarget {
  readonly group: number;
  /** The process that is measured; 0 if only time is watched. */
  readonly pid: number;
  /** From now on. */
  readonly wallMs: number;
  /** Since the process started. */
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/**
 * A watch in memory that both threads see: a message for every program would wake the thread each time. The gateway
 * writes the figures of a target, then its turn, an odd number; an even one means that nothing is watched. The thread
 * replaces the turn by its verdict, negative, before it kills.
 */
export interface WatchRecord {
  readonly turn: Int32Array;
  /** Group, pid, the end by `readClock`, processor time and memory. */
  readonly figures: Float64Array;
}

/** What the thread is told: a new record, or to look at those it has. */
export interface WatchOrder {
  readonly record?: WatchRecord;
}

/** The state of the thread, in memory that both see: 1 while it does not look and must be told. */
export interface WatchThreadData {
  readonly sleeps: Int32Array;
}

export interface ChildWatch {
  /** The limit that the child was killed for; `undefined` if the watchdog did not kill it. */
  exceeded(): Exceeded | undefined;
  stop(): void;
}

/** Does not keep the process alive. */
export interface Watchdog {
  watch(target: WatchTarget): ChildWatch;
}

const THREAD = new URL(
  import.meta.url.endsWith(".ts") ? "./watchdog-thread.ts" : "./watchdog-thread.js",
  import.meta.url,
);

/** Even, so that turns stay odd when they start again. */
const LAST_TURN = 2 ** 29;

/** Milliseconds of a clock that all threads share. */
export function readClock(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** Of all sandboxes of this process, because its start takes as long as that of a child. It sleeps without a watch. */
let thread: WatchThread | undefined;

/** The first child starts the thread; so does the next one after the thread has failed. */
export function openWatchdog(): Watchdog {
  return {
    watch(target) {
      if (target.group <= 1) return { exceeded: () => undefined, stop: () => undefined };
      thread ??= startThread(() => (thread = undefined));
      return thread.watch(target);
    },
  };
}

type WatchThread = ReturnType<typeof startThread>;

function startThread(onFailed: () => void) {
  const sleeps = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchThreadData = { sleeps };
  const worker = new Worker(THREAD, { name: "watchdog", env: {}, execArgv: [], workerData });
  worker.on("error", onFailed);
  worker.unref();
  const free: WatchRecord[] = [];
  const post = (order: WatchOrder): void => worker.postMessage(order, []);
  const create = (): WatchRecord => {
    const record = createRecord();
    post({ record });
    return record;
  };
  return {
    watch({ group, pid, wallMs, cpuMs, residentBytes }: WatchTarget): ChildWatch {
      const record = free.pop() ?? create();
      const { turn, figures } = record;
      figures.set([group, pid, readClock() + wallMs, cpuMs, residentBytes]);
      const own = (Atomics.load(turn, 0) + 1) % LAST_TURN;
      Atomics.store(turn, 0, own);
      if (Atomics.load(sleeps, 0) === 1) post({});
      let last: number | undefined;
      return {
        exceeded: () => EXCEEDED[-(last ?? Atomics.load(turn, 0)) - 1],
        stop() {
          if (last !== undefined) return;
          last = Atomics.compareExchange(turn, 0, own, own + 1);
          if (last < 0) Atomics.store(turn, 0, own + 1);
          free.push(record);
        },
      };
    },
  };
}

function createRecord(): WatchRecord {
  const turn = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return { turn, figures: new Float64Array(new SharedArrayBuffer(5 * Float64Array.BYTES_PER_ELEMENT)) };
}
