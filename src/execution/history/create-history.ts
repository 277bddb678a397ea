/** What was executed, for an operator: a list, one execution whole, and the way to end one that goes on. */

import type { ExecutionId, ExecutionResult, ExecutionView, Instant } from "../../domain/index.ts";
import { GloveboxError, parseExecutionId } from "../../domain/index.ts";
import type { ApprovalHead, ExecutionSummary, Store, StoredExecution } from "../../store/index.ts";

import { readTrail, toTrace } from "../recover/read-trail.ts";
import { parseResult } from "./view-execution.ts";
import { emptyResult } from "../run/settle.ts";
import type { SettleContext } from "../run/settle.ts";
import { cancelExecution } from "./cancel-execution.ts";
import type { CancelDeps } from "./cancel-execution.ts";

/** One line of the history. */
export interface ExecutionLine {
  readonly id: ExecutionId;
  readonly principal: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
  readonly state: ExecutionResult["state"] | "running";
  readonly errorCode: string | null;
}

/** Everything that is kept about one execution; arguments of calls are not, but as digests. */
export interface ExecutionDetails extends ExecutionLine {
  /** The author's own text, without known secrets. */
  readonly source: string;
  /** For one that goes on, what is written down of it so far. */
  readonly result: ExecutionView;
  /** What people were asked about it, oldest first. */
  readonly approvals: readonly ApprovalHead[];
}

/** For operators only: nothing here asks whose execution it is. */
export interface ExecutionHistory {
  /** Newest first. */
  list(page: Parameters<Store["executions"]["list"]>[0]): Promise<readonly ExecutionLine[]>;
  /** Rejects with REQUEST_NOT_FOUND. */
  show(id: string): Promise<ExecutionDetails>;
}

/** The same with the power to end what goes on. */
export interface ExecutionControl extends ExecutionHistory {
  /**
   * Ends it wherever it runs or waits, in the name of `by`; answers how it stands then, which is `running` when its
   * process did not answer. Rejects with REQUEST_NOT_FOUND, or with REQUEST_CONFLICT when it had ended before.
   */
  cancel(id: string, by: string): Promise<ExecutionDetails>;
}

export interface HistoryDeps extends Pick<SettleContext, "engine" | "isolation"> {
  readonly store: Pick<Store, "executions" | "ledger" | "approvals">;
  readonly now: () => Instant;
}

/** More questions than one execution can have open. */
const MOST_APPROVALS = 1_000;

export function createHistory(rooms: HistoryDeps): ExecutionHistory {
  const { executions } = rooms.store;
  return {
    list: async (page) => (await executions.list(page)).map(toLine),
    show: async (raw) => showExecution(await findExecution(raw, rooms), rooms),
  };
}

/** Needs a store that can be written to. */
export function createControl(rooms: HistoryDeps & CancelDeps): ExecutionControl {
  const history = createHistory(rooms);
  return {
    ...history,
    async cancel(raw, by) {
      await cancelExecution(await findExecution(raw, rooms), by, rooms);
      return history.show(raw);
    },
  };
}

async function findExecution(raw: string, { store }: HistoryDeps): Promise<StoredExecution> {
  const id = parseExecutionId(raw);
  const stored = id && (await store.executions.find(id));
  if (stored) return stored;
  throw new GloveboxError("REQUEST_NOT_FOUND", `There is no execution ${JSON.stringify(raw.slice(0, 60))}`, {
    hint: "glovebox executions lists them: ex_ and 24 hex digits",
  });
}

async function showExecution(stored: StoredExecution, rooms: HistoryDeps): Promise<ExecutionDetails> {
  const page = { execution: stored.id, limit: MOST_APPROVALS, now: rooms.now() };
  const approvals = await rooms.store.approvals.list(page);
  return {
    ...toLine(stored),
    source: stored.sourceText,
    result: stored.ending ? parseResult(stored.ending.result) : await viewOpen(stored, rooms),
    approvals: approvals.map(({ sealedArgs: _, ...head }) => head).toSorted((a, b) => a.createdAt - b.createdAt),
  };
}

async function viewOpen(stored: StoredExecution, rooms: HistoryDeps): Promise<ExecutionView> {
  const { calls: known } = await readTrail(stored.id, rooms);
  const calls = toTrace(known.map((call) => (call.hasEnd ? call : { ...call, outcome: "pending" as const })));
  return { ...emptyResult(stored, "completed", rooms), state: "running", calls };
}

/** One line of a list. */
export function toLine({ id, principal, startedAt, ending }: ExecutionSummary): ExecutionLine {
  return {
    id,
    principal,
    startedAt,
    endedAt: ending?.endedAt ?? null,
    state: ending?.state ?? "running",
    errorCode: ending?.errorCode ?? null,
  };
}
