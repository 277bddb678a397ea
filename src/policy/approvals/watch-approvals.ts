/** Polls for approvals that any process decided, expires overdue ones, and notifies waiting callers. */

import { DAY_MS, HOUR_MS, pollEvery } from "../../timing/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { Approval, ApprovalId, Instant } from "../../domain/index.ts";
import type { ApprovalHead, Store } from "../../store/index.ts";

export interface ApprovalWatchOptions {
  readonly store: Store["approvals"];
  readonly now: () => Instant;
  readonly everyMs: number;
  readonly find: (id: ApprovalId) => Promise<Approval | undefined>;
  readonly onExpired: (head: ApprovalHead) => Promise<unknown>;
  /** Called with the error of a failed poll; the next poll retries. */
  readonly warn: (thrown: unknown) => void;
}

export interface ApprovalWatch extends AsyncDisposable {
  /** Polls at once; resolves when all listeners were called. */
  poll(): Promise<void>;
  whenDecided(id: ApprovalId, signal: AbortSignal): Promise<Approval>;
  onDecided(listener: (approval: Approval) => void): () => void;
}

/** How long decided approvals are kept after their expiry, to explain old executions. */
export const KEEP_MS = 30 * DAY_MS;

/** Reports only changes from now on. */
export async function watchApprovals(options: ApprovalWatchOptions): Promise<ApprovalWatch> {
  const { store, now, everyMs, find, warn } = options;
  const listeners = new Set<(approval: Approval) => void>();
  let { last } = await store.changes();

  const notify = async (id: ApprovalId): Promise<void> => {
    const approval = await find(id);
    if (approval) for (const listener of listeners) listener(approval);
  };
  let forgetAt = now() + everyMs;
  const pollOnce = async (): Promise<void> => {
    const { dueAt } = await store.changes();
    if (dueAt !== null && dueAt <= now()) await expireDue(options);
    const since = await store.changes(last);
    last = since.last;
    for (const { id, state } of since.changed) if (state !== "pending") await notify(id).catch(warn);
    if (now() < forgetAt) return;
    forgetAt = now() + HOUR_MS;
    await store.forget(now() - KEEP_MS);
  };
  let running = Promise.resolve();
  const poll = (): Promise<void> => (running = running.then(pollOnce).catch(warn));

  const polling = pollEvery(everyMs, poll);
  const closed = new AbortController();
  const waiting = createWaiting(polling);
  const onDecided: ApprovalWatch["onDecided"] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    poll,
    onDecided,
    whenDecided: (id, signal) =>
      waiting(async () => {
        using listener = listenFor(id, AbortSignal.any([signal, closed.signal]), onDecided);
        const known = await find(id); // after listening has started, so that no decision is missed
        if (!known) throw notFound(id);
        return known.state === "pending" ? await listener.decided : known;
      }),
    async [Symbol.asyncDispose]() {
      const stopped = polling[Symbol.asyncDispose]();
      closed.abort(
        new GloveboxError("REQUEST_CANCELLED", "The gateway is shutting down", { hint: "Retry once it runs again" }),
      );
      await stopped;
      await running;
    },
  };
}

/** Keeps the process alive while a caller waits, and only then. */
function createWaiting(polling: ReturnType<typeof pollEvery>): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let count = 0;
  return async (work) => {
    if ((count += 1) === 1) polling.ref();
    try {
      return await work();
    } finally {
      if ((count -= 1) === 0) polling.unref();
    }
  };
}

function listenFor(
  id: ApprovalId,
  signal: AbortSignal,
  onDecided: ApprovalWatch["onDecided"],
): { readonly decided: Promise<Approval>; [Symbol.dispose](): void } {
  const { promise, resolve, reject } = Promise.withResolvers<Approval>();
  promise.catch(() => undefined); // it may reject before it is awaited
  const stop = onDecided((approval) => void (approval.id === id && resolve(approval)));
  const giveUp = (): void => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  return {
    decided: promise,
    [Symbol.dispose]() {
      stop();
      signal.removeEventListener("abort", giveUp);
    },
  };
}

/** The process that changes the row records the expiry. The approval could not be decided before that either. */
async function expireDue({ store, now, onExpired }: ApprovalWatchOptions): Promise<void> {
  const at = now();
  const expired = await store.change({ kind: "due", now: at }, () => ({
    state: "expired",
    decidedBy: "gateway",
    decidedAt: at,
  }));
  for (const head of expired) await onExpired(head);
}

export function notFound(id: string): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", `The approval ${id} does not exist`, {
    hint: "List approvals with `glovebox approvals --all`",
  });
}
