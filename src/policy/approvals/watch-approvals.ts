/** Looks for what this or another process has settled, lets what is due expire, and tells those who wait. */

import { GloveboxError } from "../../domain/index.ts";
import type { Approval, ApprovalId, Instant } from "../../domain/index.ts";
import type { ApprovalHead, Store } from "../../store/index.ts";

export interface ApprovalWatchOptions {
  readonly store: Store["approvals"];
  readonly now: () => Instant;
  readonly everyMs: number;
  readonly find: (id: ApprovalId) => Promise<Approval | undefined>;
  readonly onExpired: (head: ApprovalHead) => Promise<unknown>;
  /** Hears why a look failed; the next one tries again. */
  readonly warn: (thrown: unknown) => void;
}

export interface ApprovalWatch extends AsyncDisposable {
  /** Looks at once; resolves when everybody was told. */
  look(): Promise<void>;
  whenDecided(id: ApprovalId, signal: AbortSignal): Promise<Approval>;
  onDecided(listener: (approval: Approval) => void): () => void;
}

/** Settled ones are kept for so long after they expired: for whoever asks what became of an old execution. */
export const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

/** Begins where things stand now. */
export async function watchApprovals(options: ApprovalWatchOptions): Promise<ApprovalWatch> {
  const { store, now, everyMs, find, warn } = options;
  const listeners = new Set<(approval: Approval) => void>();
  let { last } = await store.changes();

  const tell = async (id: ApprovalId): Promise<void> => {
    const approval = await find(id);
    if (approval) for (const listener of listeners) listener(approval);
  };
  let forgetAt = now() + everyMs;
  const lookOnce = async (): Promise<void> => {
    const { dueAt } = await store.changes();
    if (dueAt !== null && dueAt <= now()) await expireDue(options);
    const since = await store.changes(last);
    last = since.last;
    for (const { id, state } of since.changed) if (state !== "pending") await tell(id).catch(warn);
    if (now() < forgetAt) return;
    forgetAt = now() + HOUR_MS;
    await store.forget(now() - KEEP_MS);
  };
  let looking = Promise.resolve();
  const look = (): Promise<void> => (looking = looking.then(lookOnce).catch(warn));

  const timer = setInterval(() => void look(), everyMs).unref();
  const closed = new AbortController();
  const waiting = createWaiting(timer);
  const onDecided: ApprovalWatch["onDecided"] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    look,
    onDecided,
    whenDecided: (id, signal) =>
      waiting(async () => {
        using ear = listenFor(id, AbortSignal.any([signal, closed.signal]), onDecided);
        const known = await find(id); // after the ear is open: nothing is missed between the two
        if (!known) throw notFound(id);
        return known.state === "pending" ? await ear.heard : known;
      }),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      closed.abort(new GloveboxError("REQUEST_CANCELLED", "The gateway ends", { hint: "Ask again once it runs" }));
      await looking;
    },
  };
}

/** Keeps the process alive while somebody waits, and only then. */
function createWaiting(timer: NodeJS.Timeout): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let count = 0;
  return async (work) => {
    if ((count += 1) === 1) timer.ref();
    try {
      return await work();
    } finally {
      if ((count -= 1) === 0) timer.unref();
    }
  };
}

function listenFor(
  id: ApprovalId,
  signal: AbortSignal,
  onDecided: ApprovalWatch["onDecided"],
): { readonly heard: Promise<Approval>; [Symbol.dispose](): void } {
  const { promise, resolve, reject } = Promise.withResolvers<Approval>();
  promise.catch(() => undefined); // nobody may have come to listen yet
  const stop = onDecided((approval) => void (approval.id === id && resolve(approval)));
  const giveUp = (): void => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  return {
    heard: promise,
    [Symbol.dispose]() {
      stop();
      signal.removeEventListener("abort", giveUp);
    },
  };
}

/** Whoever changes it first writes it down; time itself has made it undecidable before. */
async function expireDue({ store, now, onExpired }: ApprovalWatchOptions): Promise<void> {
  const at = now();
  const expired = await store.change({ kind: "due", now: at }, () => ({
    state: "expired",
    decidedBy: "gateway",
    decidedAt: at,
  }));
  for (const head of expired) await onExpired(head);
}

/** With what would have found it. */
export function notFound(id: string): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", `There is no approval ${id}`, {
    hint: "glovebox approvals --all shows those that there are",
  });
}
