/** Returns the state of an execution: its result once it has ended, logs and calls so far while it runs. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, parseExecutionId } from "../../domain/index.ts";
import type { Approval, ExecutionId, ExecutionResult, ExecutionView, PrincipalId } from "../../domain/index.ts";
import type { StoredExecution } from "../../store/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import { endsWithin } from "../running-table.ts";
import type { RunningExecution, RunningTable } from "../running-table.ts";
import { emptyResult, toQuestions } from "../settle.ts";
import { parseStoredResult } from "../journal-schema.ts";

interface ViewQuery {
  readonly principal: PrincipalId;
  readonly execution: unknown;
  /** How long to wait for an execution that runs. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

interface ViewDeps extends Pick<ExecutionDeps, "engine" | "hasEnded" | "isolation" | "now"> {
  readonly approvals: Pick<ExecutionDeps["approvals"], "find">;
  readonly store: {
    readonly executions: Pick<ExecutionDeps["store"]["executions"], "find">;
    readonly ledger: ExecutionDeps["store"]["ledger"];
  };
  readonly running: RunningTable;
  /** Recovers an execution that a dead process left. Returns its result, or `undefined` when it is resumed. */
  recoverOne(stored: StoredExecution): Promise<ExecutionResult | undefined>;
  /** No execution runs longer than this. */
  readonly longestMs: number;
}

const POLL_MS = 250;
/** How often to look whether a program has its answer. */
const ANSWERED_MS = 50;

/** Throws `REQUEST_NOT_FOUND` both for an unknown execution and for another principal's. */
export async function viewExecution(query: ViewQuery, deps: ViewDeps): Promise<ExecutionView> {
  const id = parseExecutionId(query.execution);
  if (!id) throw notFound();
  const running = deps.running.find(id);
  if (running && running.principal !== query.principal) throw notFound(id);
  if (running) return waitForEnd(id, running, query, deps);
  const stored = await deps.store.executions.find(id);
  if (!stored || stored.principal !== query.principal) throw notFound(id);
  const { ending } = stored;
  return ending && !(await isDecided(stored, deps))
    ? parseStoredResult(id, ending.result)
    : pollStore(stored, query, deps);
}

/** A decision has been made and no process has resumed it yet: what it waited for is no longer what it waits for. */
async function isDecided({ id, ending }: StoredExecution, { approvals }: ViewDeps): Promise<boolean> {
  if (ending?.state !== "paused") return false;
  const { approvals: awaited = [], error } = parseStoredResult(id, ending.result);
  if (error) return false; // it waits for an upstream
  const found = await Promise.all(awaited.map((one) => approvals.find(one).catch(() => undefined)));
  return found.some((approval) => approval !== undefined && approval.state !== "pending");
}

/** Another process may run it: reads the store until it has ended or the time is over. */
async function pollStore(
  stored: StoredExecution,
  { waitMs, signal }: ViewQuery,
  deps: ViewDeps,
): Promise<ExecutionView> {
  const { id } = stored;
  const until = performance.now() + waitMs;
  for (let one: StoredExecution | undefined = stored; one; one = await deps.store.executions.find(id)) {
    const view = one.ending ? parseStoredResult(id, one.ending.result) : await viewOpen(one, deps);
    const isUnderWay = view.state === "running" || (await isDecided(one, deps));
    if (!isUnderWay || performance.now() >= until || signal.aborted) return view;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  throw notFound(id);
}

async function waitForEnd(
  id: ExecutionId,
  running: RunningExecution,
  { waitMs, signal }: ViewQuery,
  deps: ViewDeps,
): Promise<ExecutionView> {
  const { logs, calls, done, inputs } = running;
  const until = performance.now() + waitMs;
  while (inputs.due().aborted && performance.now() < until && !signal.aborted) {
    if (await isPending(inputs.list(), deps)) break;
    await sleep(ANSWERED_MS, undefined, { signal }).catch(() => undefined);
  }
  const ended = await endsWithin(done, until - performance.now(), AbortSignal.any([inputs.due(), signal]));
  if (ended) return ended;
  const known = { logs: [...logs], calls: [...calls], ...listQuestions(inputs.list()) };
  return { ...emptyResult({ id }, "completed", deps), state: "running", ...known };
}

/** False when all were answered: the program is about to continue. */
async function isPending(waiting: readonly Approval[], { approvals }: ViewDeps): Promise<boolean> {
  const found = await Promise.all(waiting.map(({ id }) => approvals.find(id).catch(() => undefined)));
  return found.some((approval) => approval?.state === "pending");
}

/** What its user has to answer while it runs. */
function listQuestions(waiting: readonly Approval[]): Pick<ExecutionView, "approvals" | "questions"> {
  return waiting.length === 0 ? {} : toQuestions(waiting);
}

/** It is open and does not run here: another process runs it, or its process died. */
async function viewOpen(stored: StoredExecution, deps: ViewDeps): Promise<ExecutionView> {
  const { owner } = stored;
  const isLost = (owner !== undefined && deps.hasEnded(owner)) || (await isOverdue(stored, deps));
  const ended = isLost ? await deps.recoverOne(stored) : undefined;
  return ended ?? { ...emptyResult(stored, "completed", deps), state: "running" };
}

/** A suspended execution resumes long after it was opened, so its last ledger record counts. */
async function isOverdue({ id, startedAt }: StoredExecution, { store, now, longestMs }: ViewDeps): Promise<boolean> {
  if (now() - startedAt <= longestMs) return false;
  const [last] = await store.ledger.search({ execution: id, limit: 1 });
  return now() - (last?.at ?? startedAt) > longestMs;
}

function notFound(id?: ExecutionId): GloveboxError {
  const message = id ? `The execution ${id} does not exist` : "The id of the execution is invalid";
  return new GloveboxError("REQUEST_NOT_FOUND", message, {
    hint: "Use the id in the result of execute: ex_ and 24 hex digits",
  });
}
