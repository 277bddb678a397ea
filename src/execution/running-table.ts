/**
 * The table of requests that this process works on. It owns the one AbortController of each execution, its listeners and
 * its shutdown, so that cancellation can be followed on this page.
 */

import { GloveboxError } from "../domain/index.ts";
import type {
  CallRecord,
  Execution,
  ExecutionEvent,
  ExecutionId,
  ExecutionResult,
  LogLine,
  PrincipalId,
} from "../domain/index.ts";
import { redactApproval, redactEvent } from "../text/index.ts";
import { NEVER, settlesWithin } from "../timing/index.ts";

import { toCancelReason } from "./settle.ts";
import { createInputWaits } from "./input-waits.ts";
import type { InputWaits } from "./input-waits.ts";

/** An execution that runs in this process. */
export interface RunningExecution {
  readonly principal: PrincipalId;
  readonly logs: readonly LogLine[];
  readonly calls: readonly CallRecord[];
  /** Rejects when the execution could not be recorded. */
  readonly done: Promise<ExecutionResult>;
  /** What servers ask its user while it runs. */
  readonly inputs: Pick<InputWaits, "list" | "due">;
}

/** An execution that has an id and ends later. A request with a key may change to another id while it waits. */
export interface StartedExecution {
  readonly id: ExecutionId;
  readonly done: Promise<ExecutionResult>;
}

/** How long a client waits for a result. */
export interface ClientPatience {
  readonly patienceMs: number;
  /** Ends the wait early. */
  readonly until?: AbortSignal | undefined;
}

/** Who waits for a request, how it is cancelled and who observes it. */
export interface RequestClient {
  readonly principal: PrincipalId;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ExecutionEvent) => void) | undefined;
}

export type TableEntry = ReturnType<typeof createEntry>;

export type RunningTable = ReturnType<typeof createRunningTable>;

/** `hide` is the mask of the gateway: every event passes it here, once, before it is kept or a client gets it. */
export function createRunningTable(hide: (text: string) => string) {
  const running: Running = new Map();
  const entries = new Set<TableEntry>();
  const empty = Promise.withResolvers<void>();
  let isClosed = false;

  return {
    /** Throws `REQUEST_CANCELLED` after `close`. */
    enter(client: RequestClient): TableEntry {
      if (isClosed) throw shuttingDown();
      const entry: TableEntry = createEntry(client, running, {
        hide,
        inputs: createInputWaits((approval) => redactApproval(approval, hide)),
        remove: () => {
          entries.delete(entry);
          if (isClosed && entries.size === 0) empty.resolve();
        },
      });
      entries.add(entry);
      return entry;
    },
    find: (id: ExecutionId): RunningExecution | undefined => running.get(id),
    /** Cancels an execution in the name of `by`; does nothing if it does not run here. */
    cancel: (id: ExecutionId, by: string): void => running.get(id)?.cancel(toCancelReason(by)),
    isIdle: (): boolean => running.size === 0,
    /** Those that no one has cancelled. */
    list: (): readonly Pick<Execution, "id" | "principal">[] =>
      [...running].flatMap(([id, { principal, isCancelled }]) => (isCancelled() ? [] : [{ id, principal }])),
    /** Cancels all requests and refuses new ones. Resolves when all have settled, or after `mostMs`. */
    async close(mostMs: number): Promise<void> {
      isClosed = true;
      for (const entry of entries) entry.cancel(shuttingDown());
      if (entries.size > 0) await settlesWithin(empty.promise, mostMs);
    },
  };
}

interface Entered extends RunningExecution {
  readonly cancel: (reason?: unknown) => void;
  readonly isCancelled: () => boolean;
}

type Running = Map<ExecutionId, Entered>;

interface EntryPowers {
  readonly hide: (text: string) => string;
  readonly inputs: InputWaits;
  readonly remove: () => void;
}

/** One request in the table. It must be left when its work has settled. */
function createEntry(
  { principal, signal: client = NEVER, onEvent: listener }: RequestClient,
  running: Running,
  { hide, inputs, remove }: EntryPowers,
) {
  const logs: LogLine[] = [];
  const calls: CallRecord[] = [];
  const enteredAt = performance.now();
  const controller = new AbortController();
  const signal: AbortSignal = controller.signal;
  const cancel = (reason?: unknown): void => controller.abort(reason);
  const onClientAbort = (): void => cancel(client.reason);
  let isObserved = true;
  /** The client no longer waits: its signal and its listener have no effect from now on. */
  const detach = (): void => {
    isObserved = false;
    client.removeEventListener("abort", onClientAbort);
  };
  /** Records logs and calls, and passes the event on to the client's listener. */
  const onEvent = (raw: ExecutionEvent): void => {
    const event = redactEvent(raw, hide);
    if (event.kind === "log") logs.push(event.line);
    else if (event.kind === "answered") calls.push(event.record);
    if (isObserved) listener?.(event);
  };
  const own = { signal, onEvent, inputs, cancel };
  client.addEventListener("abort", onClientAbort, { once: true });
  if (client.aborted) onClientAbort();
  return {
    ...own,
    /** Lists `work` under its id until it settles, and notifies the listener that it is open. */
    start(id: ExecutionId, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
      onEvent({ kind: "opened", execution: id });
      const done = work();
      running.set(id, { principal, logs, calls, done, inputs, cancel, isCancelled: () => signal.aborted });
      done.finally(() => running.delete(id)).catch(() => undefined);
      return done;
    },
    /**
     * Returns the result if it arrives within the client's patience, counted from `enter`; `undefined` otherwise, and if
     * the client has to tell its user of a question. Then the client is detached: the execution continues without it, and `report` is called if it fails.
     */
    async answerWithin(
      { done }: Pick<StartedExecution, "done">,
      { patienceMs, until }: ClientPatience,
      report: (thrown: unknown) => void,
    ): Promise<ExecutionResult | undefined> {
      const stop = AbortSignal.any([inputs.due(), until ?? NEVER]);
      const ended = await endsWithin(done, patienceMs - (performance.now() - enteredAt), stop);
      if (ended) return ended;
      detach();
      done.catch(report);
      return undefined;
    },
    leave: (): void => {
      detach();
      remove();
    },
  };
}

/** `undefined` when the time is over first, or `until` fires. */
export async function endsWithin<T>(done: Promise<T>, ms: number, until: AbortSignal = NEVER): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const giveUp = (): void => over.resolve(undefined);
  const timer = setTimeout(giveUp, Math.max(0, ms));
  until.addEventListener("abort", giveUp, { once: true });
  if (until.aborted) giveUp();
  try {
    return await Promise.race([done, over.promise]);
  } finally {
    clearTimeout(timer);
    until.removeEventListener("abort", giveUp);
  }
}

/** Rejects with `REQUEST_CANCELLED` when the signal fires first. An upstream that hangs does not delay a cancellation. */
export async function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const cancelled = Promise.withResolvers<never>();
  const cancel = (): void => cancelled.reject(new GloveboxError("REQUEST_CANCELLED", "The execution was cancelled"));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  return Promise.race([work, cancelled.promise]).finally(() => signal.removeEventListener("abort", cancel));
}

function shuttingDown(): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", "Glovebox is shutting down", { hint: "Try again after it restarted" });
}
