/** The history of executions for operators: a list, the details of one, and how to cancel one. */

import type { ExecutionId, ExecutionResult, ExecutionView, Instant } from "../../domain/index.ts";
import { GloveboxError, parseExecutionId } from "../../domain/index.ts";
import type { ApprovalHead, ExecutionSummary, Store, StoredExecution } from "../../store/index.ts";

import { readTrail, toCallRecords } from "../ledger-trail.ts";
import { emptyResult } from "../settle.ts";
import type { SettleDeps } from "../settle.ts";
import { parseStoredResult } from "../journal-schema.ts";
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

/** Everything that is stored about one execution. The arguments of calls are stored as digests only. */
export interface ExecutionDetails extends ExecutionLine {
  /** The program as its author wrote it, without known secrets. */
  readonly source: string;
  /** While it runs, the calls that are recorded so far. */
  readonly result: ExecutionView;
  /** Its approvals, oldest first. */
  readonly approvals: readonly ApprovalHead[];
}

/** For operators only: does not check whose execution it is. */
export interface ExecutionHistory {
  /** Newest first. */
  list(page: Parameters<Store["executions"]["list"]>[0]): Promise<readonly ExecutionLine[]>;
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

/** More approvals than one execution can have. */
const MOST_APPROVALS = 1_000;

export function createHistory(deps: HistoryDeps): ExecutionHistory {
  const { executions } = deps.store;
  return {
    list: async (page) => (await executions.list(page)).map(toLine),
    show: async (raw) => showExecution(await findExecution(raw, deps), deps),
  };
}

/** Needs a store that can be written to. */
export function createControl(deps: HistoryDeps & CancelDeps): ExecutionControl {
  const history = createHistory(deps);
  return {
    ...history,
    async cancel(raw, by) {
      await cancelExecution(await findExecution(raw, deps), by, deps);
      return history.show(raw);
    },
  };
}

async function findExecution(raw: string, { store }: HistoryDeps): Promise<StoredExecution> {
  const id = parseExecutionId(raw);
  const stored = id && (await store.executions.find(id));
  if (stored) return stored;
  throw new GloveboxError("REQUEST_NOT_FOUND", `The execution ${JSON.stringify(raw.slice(0, 60))} does not exist`, {
    hint: "Run `glovebox executions` to list them: ex_ and 24 hex digits",
  });
}

async function showExecution(stored: StoredExecution, deps: HistoryDeps): Promise<ExecutionDetails> {
  const page = { execution: stored.id, limit: MOST_APPROVALS, now: deps.now() };
  const approvals = await deps.store.approvals.list(page);
  return {
    ...toLine(stored),
    source: stored.sourceText,
    result: stored.ending ? parseStoredResult(stored.id, stored.ending.result) : await viewOpen(stored, deps),
    approvals: approvals.map(({ sealedArgs: _, ...head }) => head).toSorted((a, b) => a.createdAt - b.createdAt),
  };
}

async function viewOpen(stored: StoredExecution, deps: HistoryDeps): Promise<ExecutionView> {
  const { calls: known } = await readTrail(stored.id, deps);
  const calls = toCallRecords(known.map((call) => (call.hasEnd ? call : { ...call, outcome: "pending" as const })));
  return { ...emptyResult(stored, "completed", deps), state: "running", calls };
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
