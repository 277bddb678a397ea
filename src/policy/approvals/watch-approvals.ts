/** Polls for approvals that any process decided, expires overdue ones, and notifies waiting callers. */

import { DAY_MS, HOUR_MS, pollEvery, untilAborted } from "../../timing/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { Approval, ApprovalId, Instant } from "../../domain/index.ts";
import type { ApprovalHead, Store } from "../../store/index.ts";

interface ApprovalWatchOptions {
  readonly store: Store["approvals"];
  readonly now: () => Instant;
  readonly everyMs: number;
  readonly find: (id: ApprovalId) => Promise<Approval | undefined>;
  readonly onExpired: (head: ApprovalHead) => Promise<unknown>;
  readonly beforeDecided?: () => Promise<unknown>;
  readonly warn: (thrown: unknown) => void;
}

/** How long decided approvals are kept after their expiry, to explain old executions. */
export const KEEP_MS = 30 * DAY_MS;

/** Reports only changes from now on. */
export async function watchApprovals(options: ApprovalWatchOptions) {
  const { store, now, everyMs, find, warn } = options;
  const decided = createListeners<Approval>();
  const requested = createListeners<ApprovalHead>();
  let { last } = await store.changes();

  const notify = async (id: ApprovalId): Promise<void> => {
    const approval = await find(id);
    if (approval) decided.notify(approval);
  };
  let forgetAt = now() + everyMs;
  const pollOnce = async (): Promise<void> => {
    const { dueAt } = await store.changes();
    if (dueAt !== null && dueAt <= now()) await expireDue(options);
    const since = await store.changes(last);
    if (since.changed.some(({ state }) => state === "approved")) await options.beforeDecided?.();
    last = since.last;
    for (const head of since.changed)
      if (head.state !== "pending") await notify(head.id).catch(warn);
      else requested.notify(head);
    if (now() < forgetAt) return;
    forgetAt = now() + HOUR_MS;
    await store.forget(now() - KEEP_MS);
  };
  let running = Promise.resolve();
  /** Polls at once; resolves when all listeners were called. */
  const poll = (): Promise<void> => (running = running.then(pollOnce).catch(warn));

  const polling = pollEvery(everyMs, poll);
  const closed = new AbortController();
  let waiting = 0;
  return {
    poll,
    onDecided: decided.add,
    onRequested: requested.add,
    requestedHere: createListeners<ApprovalHead>(), // the caller notifies them
    async whenDecided(id: ApprovalId, signal: AbortSignal): Promise<Approval> {
      const { promise, resolve } = Promise.withResolvers<Approval>();
      const stop = decided.add((approval) => void (approval.id === id && resolve(approval)));
      if ((waiting += 1) === 1) polling.ref(); // keeps the process alive while a caller waits, and only then
      try {
        const known = await find(id); // after listening has started, so that no decision is missed
        if (!known) throw notFound(id);
        return known.state === "pending" ? await untilAborted(promise, signal, closed.signal) : known;
      } finally {
        stop();
        if ((waiting -= 1) === 0) polling.unref();
      }
    },
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

/** The process that changes the row records the expiry. The approval could not be decided before that either. */
async function expireDue({ store, now, onExpired }: ApprovalWatchOptions): Promise<void> {
  const at = now();
  const expiry = { state: "expired", decidedBy: "gateway", decidedAt: at } as const;
  for (const head of await store.change({ kind: "due", now: at }, () => expiry)) await onExpired(head);
}

function createListeners<Value>() {
  const listeners = new Set<(value: Value) => void>();
  return {
    add: (listener: (value: Value) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify: (value: Value): void => listeners.forEach((listener) => listener(value)),
  };
}

export function notFound(id: string): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", `The approval ${id} does not exist`, {
    hint: "List approvals with `glovebox approvals --all`",
  });
}
