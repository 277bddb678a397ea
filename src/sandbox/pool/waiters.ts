/** Executions that wait for a child: each gets one in turn, gives up, or is refused. */

import { GloveboxError } from "../../domain/index.ts";

import type { FairQueue } from "./fair-queue.ts";
import type { PoolWorker } from "./worker.ts";

export interface Waiter {
  readonly principal: string;
  readonly resolve: (worker: PoolWorker) => void;
  readonly reject: (error: GloveboxError) => void;
}

/** Joins the queue synchronously; the promise rejects with REQUEST_CANCELLED when `signal` aborts. */
export function joinQueue(queue: FairQueue<Waiter>, principal: string, signal: AbortSignal): Promise<PoolWorker> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      if (queue.remove(principal, waiter)) reject(createCancelledError());
    };
    const waiter: Waiter = {
      principal,
      resolve: (worker) => {
        signal.removeEventListener("abort", giveUp);
        resolve(worker);
      },
      reject: (error) => {
        signal.removeEventListener("abort", giveUp);
        reject(error);
      },
    };
    signal.addEventListener("abort", giveUp, { once: true });
    queue.add(principal, waiter);
  });
}

/** Empties the queue. */
export function refuseAll(queue: FairQueue<Waiter>, error: GloveboxError): void {
  for (let waiter = queue.take(); waiter; waiter = queue.take()) waiter.reject(error);
}

export function createCancelledError(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "The execution was cancelled while it waited for its turn");
}

export function createBusyError(places: number, waiting: number): GloveboxError {
  return new GloveboxError("LIMIT_BUSY", `All ${places} places are taken and ${waiting} executions wait`, {
    hint: "Try again in a moment; an operator can raise sandbox.concurrency or sandbox.queue",
  });
}
