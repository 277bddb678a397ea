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

/** What the thread is told. It writes the verdict before it kills. */
export type WatchOrder =
  | ({ readonly kind: "watch"; readonly id: number; readonly verdict: Int32Array } & WatchTarget)
  | { readonly kind: "stop"; readonly id: number };

export interface ChildWatch {
  /** The limit that the child was killed for; `undefined` if the watchdog did not kill it. */
  exceeded(): Exceeded | undefined;
  stop(): void;
}

/** Does not keep the process alive. */
export interface Watchdog {
  watch(target: WatchTarget): ChildWatch;
  close(): Promise<void>;
}

const THREAD = new URL(
  import.meta.url.endsWith(".ts") ? "./watchdog-thread.ts" : "./watchdog-thread.js",
  import.meta.url,
);

/** The first child starts the thread; so does the next one after the thread has failed. */
export function openWatchdog(): Watchdog {
  let thread: Worker | undefined;
  let watches = 0;
  const start = (): Worker => {
    const started = new Worker(THREAD, { name: "watchdog", env: {}, execArgv: [] });
    started.on("error", () => (thread = undefined));
    started.unref();
    return started;
  };
  return {
    watch(target) {
      const id = (watches += 1);
      const verdict = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      if (target.group > 1) post((thread ??= start()), { kind: "watch", id, verdict, ...target });
      return {
        exceeded: () => EXCEEDED[Atomics.load(verdict, 0) - 1],
        stop: () => thread && post(thread, { kind: "stop", id }),
      };
    },
    async close() {
      await thread?.terminate();
      thread = undefined;
    },
  };
}

function post(thread: Worker, order: WatchOrder): void {
  thread.postMessage(order, []);
}
