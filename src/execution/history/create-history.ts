/** The history of executions for operators: a list, the details of one, and how to cancel one. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, defined, describeError, parseExecutionId } from "../../domain/index.ts";
import type { ExecutionId, ExecutionResult, ExecutionView, Instant, PublicError } from "../../domain/index.ts";
import type { ApprovalHead, ExecutionSummary, Store } from "../../store/index.ts";
import { SECOND_MS } from "../../timing/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import { closeExecution, closeFromLedger } from "../execution-log.ts";
import { parseStoredResult } from "../journal-schema.ts";
import { readTrail, toCallRecords } from "../ledger-trail.ts";
import type { LedgerCall } from "../ledger-trail.ts";
import { emptyResult, toCancelReason } from "../settle.ts";
import type { SettleDeps } from "../settle.ts";
import { findTimes } from "./find-times.ts";
import type { RecordedTimes } from "./find-times.ts";

/** One line of the history. */
export interface ExecutionLine {
  readonly id: ExecutionId;
  readonly principal: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
  readonly state: ExecutionResult["state"] | "running";
  readonly errorCode: string | null;
}

/** One line of a list, with what tells executions apart. */
export interface ListedLine extends ExecutionLine {
  /** The beginning of its source. */
  readonly head: string;
  /** Some of the tools that it called, once it has paused or ended. */
  readonly tools: readonly string[];
}

type HistoryQuery = Parameters<Store["executions"]["list"]>[0];

/** A page, and where the next one starts; a search for text covers a part of the list at a time. */
export interface HistoryPage {
  readonly executions: readonly ListedLine[];
  readonly next?: ExecutionId;
}

/** Everything that is stored about one execution. The arguments of calls are stored as digests only. */
export interface ExecutionDetails extends ExecutionLine {
  /** The program as its author wrote it, without known secrets. */
  readonly source: string;
  /** While it runs, the calls that are recorded so far. */
  readonly result: ExecutionView;
  /** Its approvals, oldest first. */
  readonly approvals: readonly ApprovalHead[];
  /** When its calls were made, as far as the ledger has it. */
  readonly times: RecordedTimes["times"];
  /** The id of the client's trace. */
  readonly trace?: string;
  /** Why `result` has only the calls and no value, logs, findings or error: the key that opens them is not available. */
  readonly sealed?: PublicError;
}

/** For operators only: does not check whose execution it is. */
export interface ExecutionHistory {
  /** Newest first. */
  list(query: HistoryQuery): Promise<readonly ListedLine[]>;
  /** The same in bounded time: a page of a search may be short, or empty, and have a next one. */
  page(query: HistoryQuery): Promise<HistoryPage>;
  /** Rejects with REQUEST_NOT_FOUND. */
  show(id: string): Promise<ExecutionDetails>;
}

/** The history, with the power to cancel. */
export interface ExecutionControl extends ExecutionHistory {
  /**
   * Cancels it wherever it runs or waits, in the name of `by`. Returns its details, with state `running` when its
   * process did not respond. Rejects with REQUEST_NOT_FOUND, or with REQUEST_CONFLICT when it had already ended.
   */
  cancel(id: string, by: string): Promise<ExecutionDetails>;
}

export interface HistoryDeps extends Pick<SettleDeps, "engine" | "isolation"> {
  readonly store: Pick<Store, "executions" | "ledger" | "approvals">;
  readonly now: () => Instant;
}

interface CancelDeps extends Pick<ExecutionDeps, "hasEnded" | "ledger" | "owner" | "releaseQuota"> {
  readonly store: Pick<Store, "cancellations">;
  /** Opens the seal of results in the store. Rejects with CONFIG_INVALID without the key. */
  unlock(): Promise<unknown>;
  /** Withdraws the pending approvals of an execution that has ended. */
  withdraw(execution: ExecutionId): Promise<void>;
}

/** What an operator needs to cancel; the store must be writable. */
type ControlDeps = HistoryDeps & CancelDeps;

/** An execution without its result. */
type ExecutionHead = NonNullable<Awaited<ReturnType<Store["executions"]["findHead"]>>>;

/** Executions whose text one page of a search looks at. */
const SEARCHED = 5_000;
/** More approvals than one execution can have. */
const MOST_APPROVALS = 1_000;

export function createHistory(deps: HistoryDeps): ExecutionHistory {
  const { executions } = deps.store;
  const list: ExecutionHistory["list"] = async (query) =>
    (await executions.list(query)).map(({ head, tools, ...summary }) => ({ ...toLine(summary), head, tools }));
  return {
    list,
    page: async (query) => {
      const { limit, before, search } = query;
      const downTo =
        search === undefined ? undefined : await executions.skip({ count: SEARCHED, ...defined({ before }) });
      const found = await list({ ...query, ...defined({ downTo }) });
      return { executions: found, ...defined({ next: found.length < limit ? downTo : found.at(-1)?.id }) };
    },
    show: async (raw) => showExecution(await findExecution(raw, deps), deps),
  };
}

export function createControl(deps: ControlDeps): ExecutionControl {
  const history = createHistory(deps);
  return {
    ...history,
    async cancel(raw, by) {
      const found = await findExecution(raw, deps);
      await deps.unlock();
      await cancelExecution(found, by, deps);
      return history.show(raw);
    },
  };
}

async function findExecution(raw: string, { store }: HistoryDeps): Promise<ExecutionHead> {
  const id = parseExecutionId(raw);
  const stored = id && (await store.executions.findHead(id));
  if (stored) return stored;
  throw new GloveboxError("REQUEST_NOT_FOUND", `The execution ${JSON.stringify(raw.slice(0, 60))} does not exist`, {
    hint: "Run `glovebox executions` to list them: ex_ and 24 hex digits",
  });
}

async function showExecution(stored: ExecutionHead, deps: HistoryDeps): Promise<ExecutionDetails> {
  const page = { execution: stored.id, limit: MOST_APPROVALS, now: deps.now() };
  const approvals = await deps.store.approvals.list(page);
  return {
    ...toLine(stored),
    source: stored.sourceText,
    ...(await showResult(stored, deps)),
    ...(await findTimes(toLine(stored), deps.store)),
    approvals: approvals.map(({ sealedArgs: _, ...head }) => head).toSorted((a, b) => a.createdAt - b.createdAt),
  };
}

/** Without the key, the calls of an execution that has ended are those of the ledger. */
async function showResult(
  stored: ExecutionHead,
  deps: HistoryDeps,
): Promise<Pick<ExecutionDetails, "result" | "sealed">> {
  const { id, ending } = stored;
  if (!ending) return { result: await viewOpen(stored, deps) };
  try {
    return { result: (await readResult(id, deps)) ?? (await viewOpen(stored, deps)) };
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code !== "CONFIG_INVALID") throw thrown;
    const view = await viewOpen(stored, deps);
    return { result: { ...view, state: ending.state }, sealed: describeError(thrown) };
  }
}

/** `undefined` when another process has just resumed it. */
async function readResult(id: ExecutionId, { store }: HistoryDeps): Promise<ExecutionResult | undefined> {
  const ending = (await store.executions.find(id))?.ending;
  return ending ? parseStoredResult(id, ending.result) : undefined;
}

async function viewOpen(stored: ExecutionHead, deps: HistoryDeps): Promise<ExecutionView> {
  const { calls: known } = await readTrail(stored.id, deps);
  const calls = toCallRecords(known.map((call) => (call.hasEnd ? call : { ...call, outcome: "pending" as const })));
  return { ...emptyResult(stored, "completed", deps), state: "running", calls };
}

function toLine({ id, principal, startedAt, ending }: ExecutionSummary): ExecutionLine {
  return {
    id,
    principal,
    startedAt,
    endedAt: ending?.endedAt ?? null,
    state: ending?.state ?? "running",
    errorCode: ending?.errorCode ?? null,
  };
}

/** Gateways look for cancellations once a second and end a call in less; a busy machine may need longer. */
const WAIT_MS = 30 * SECOND_MS;
const POLL_MS = 100;

/**
 * Cancels an execution from any process that has the store: written to the ledger first. The process that runs it reads
 * the request; an execution without a process, because it is suspended or its process died, is closed here. Resolves when
 * it has ended, or when its process does not respond.
 */
async function cancelExecution(stored: ExecutionHead, by: string, deps: ControlDeps): Promise<void> {
  const { id } = stored;
  if (isOver(stored)) {
    throw new GloveboxError("REQUEST_CONFLICT", `The execution ${id} has already ended: ${stored.ending?.state}`, {
      hint: `Run \`glovebox executions show ${id}\` to see its result`,
    });
  }
  await deps.ledger.write({ actor: by, action: "execution.cancelled", subject: id, detail: {} });
  await deps.store.cancellations.request({ execution: id, askedBy: by, askedAt: deps.now() });
  const until = deps.now() + WAIT_MS;
  for (let one = await deps.store.executions.findHead(id); one; one = await deps.store.executions.findHead(id)) {
    if (isOver(one) || deps.now() > until) return;
    if (hasNoProcess(one, deps)) await closeCancelled(one, by, deps);
    else await sleep(POLL_MS);
  }
}

function isOver({ ending }: ExecutionHead): boolean {
  return ending !== null && ending.state !== "paused";
}

function hasNoProcess({ ending, owner }: ExecutionHead, { hasEnded }: ControlDeps): boolean {
  return ending !== null || (owner !== undefined && hasEnded(owner));
}

/** A suspended execution keeps everything but its state; for one whose process died the ledger has the calls. */
async function closeCancelled(stored: ExecutionHead, by: string, deps: ControlDeps): Promise<void> {
  const { id, owner: from, ending } = stored;
  // Another process may resume it at this moment: the one that claims it first has it, and then reads the request.
  const was = ending ? "paused" : "open";
  const paused = ending ? await readResult(id, deps) : undefined;
  if (ending && !paused) return;
  if (!(await deps.store.executions.claim(id, { was, from, by: deps.owner }))) return;
  await deps.withdraw(id);
  if (!ending) await deps.releaseQuota(id);
  const trail = await readTrail(id, deps);
  const { closing } = trail;
  if (closing) return void (await closeFromLedger(stored, { ...trail, closing }, deps));
  const calls = toCallRecords(await endCalls(stored, trail.calls, deps));
  const before: ExecutionResult = paused ?? emptyResult(stored, "cancelled", deps);
  const { approvals: _, questions: __, ...rest } = before;
  await closeExecution(stored, { ...rest, state: "cancelled", calls, error: describeError(toCancelReason(by)) }, deps);
}

/** A call that waited for approval was never made; one that was sent and not answered has an unknown outcome. */
async function endCalls(
  { id, principal }: ExecutionHead,
  known: readonly LedgerCall[],
  deps: ControlDeps,
): Promise<readonly LedgerCall[]> {
  const calls = known.map((call) => (call.outcome === "pending" ? { ...call, outcome: "error" as const } : call));
  for (const { seq, tool, outcome, hasEnd } of calls) {
    const detail = { execution: id, seq, outcome, code: "REQUEST_CANCELLED" };
    if (!hasEnd) await deps.ledger.write({ actor: principal, action: "call.ended", subject: tool, detail });
  }
  return calls;
}
