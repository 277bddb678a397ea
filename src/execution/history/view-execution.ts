/** Answers how an execution stands: its result once it has ended, what is known so far while it runs. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, parseExecutionId } from "../../domain/index.ts";
import type {
  Execution,
  ExecutionId,
  ExecutionResult,
  ExecutionView,
  Instant,
  PrincipalId,
} from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import type { RunningTable, RunningExecution } from "../run/running-table.ts";
import type { RecoverDeps } from "../recover/recover-execution.ts";
import { emptyResult } from "../run/settle.ts";

export interface ViewQuery {
  readonly principal: PrincipalId;
  readonly execution: unknown;
  /** How long an execution that runs is waited for. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface ViewDeps extends RecoverDeps {
  readonly store: RecoverDeps["store"] & { readonly executions: Pick<Store["executions"], "find"> };
  /** Ends what a dead process left open, or goes on with it: then there is no result yet. */
  recoverOne(stored: StoredExecution): Promise<ExecutionResult | undefined>;
  readonly running: RunningTable;
  readonly now: () => Instant;
  /** No execution goes on longer than this. */
  readonly longestMs: number;
}

/** Throws `REQUEST_NOT_FOUND` for an execution that does not exist or is another principal's: the two look the same. */
export async function viewExecution(request: ViewQuery, rooms: ViewDeps): Promise<ExecutionView> {
  const id = parseExecutionId(request.execution);
  if (!id) throw unknown();
  const running = rooms.running.find(id);
  if (running && running.principal !== request.principal) throw unknown(id);
  if (running) return waitForEnd(id, running, request, rooms);
  const stored = await rooms.store.executions.find(id);
  if (!stored || stored.principal !== request.principal) throw unknown(id);
  return stored.ending ? parseResult(stored.ending.result) : pollStore(stored, request, rooms);
}

/** Another process may run it: how it stands is read until it has ended or the time is over. */
async function pollStore(
  stored: StoredExecution,
  { waitMs, signal }: ViewQuery,
  rooms: ViewDeps,
): Promise<ExecutionView> {
  const until = performance.now() + waitMs;
  for (let one: StoredExecution | undefined = stored; one; one = await rooms.store.executions.find(stored.id)) {
    const view = one.ending ? parseResult(one.ending.result) : await viewOpen(one, rooms);
    if (view.state !== "running" || performance.now() >= until || signal.aborted) return view;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  throw unknown(stored.id);
}

const LOOK_MS = 250;

async function waitForEnd(
  id: ExecutionId,
  running: RunningExecution,
  { waitMs, signal }: ViewQuery,
  rooms: ViewDeps,
): Promise<ExecutionView> {
  const waited = new AbortController();
  const timeout = sleep(waitMs, undefined, { signal: AbortSignal.any([signal, waited.signal]) }).catch(() => undefined);
  const ended = await Promise.race([running.ended, timeout]);
  waited.abort();
  if (ended) return ended;
  const { logs, calls } = running;
  return { ...emptyResult({ id }, "completed", rooms), state: "running", logs: [...logs], calls: [...calls] };
}

/** Left open by nobody here: another process runs it, or it died with its own. */
async function viewOpen(stored: StoredExecution, rooms: ViewDeps): Promise<ExecutionView> {
  const { owner } = stored;
  const isLost = (owner !== undefined && rooms.hasEnded(owner)) || (await isOverdue(stored, rooms));
  const ended = isLost ? await rooms.recoverOne(stored) : undefined;
  if (ended) return ended;
  return { ...emptyResult(stored, "completed", rooms), state: "running" };
}

/** One that was put away goes on long after it began, so its last sign of life counts. */
async function isOverdue({ id, startedAt }: StoredExecution, { store, now, longestMs }: ViewDeps): Promise<boolean> {
  if (now() - startedAt <= longestMs) return false;
  const [last] = await store.ledger.search({ execution: id, limit: 1 });
  return now() - (last?.at ?? startedAt) > longestMs;
}

/** It was written by `createExecutionLog`. */
export function parseResult(text: string): ExecutionResult {
  return JSON.parse(text) as ExecutionResult;
}

function unknown(id?: Execution["id"]): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", `There is no execution ${id ?? "of this name"}`, {
    hint: "Take the id from the result of execute: ex_ and 24 hex digits",
  });
}
