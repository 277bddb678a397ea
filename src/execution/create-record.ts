/** The two ends of every execution in store and ledger: opened before anything runs, closed after everything ended. */

import { digestOf } from "../audit/index.ts";
import type { Ledger } from "../audit/index.ts";
import type { Execution, ExecutionId, ExecutionResult, Instant } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import type { ExecutionRequest } from "./execute.ts";

export interface RecordOptions {
  readonly store: Pick<Store, "executions">;
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  readonly createId: () => ExecutionId;
}

export interface Opening {
  readonly execution: Execution;
  /** Settles once it is on disk, or rejects: then no call may leave and no result be given out. */
  readonly opened: Promise<unknown>;
}

export interface ExecutionRecord {
  /** Does not wait for the disk: a program may start meanwhile, as long as it reaches nothing. */
  open(request: ExecutionRequest): Opening;
  close(execution: Execution, result: ExecutionResult): Promise<void>;
}

export function createRecord({ store, ledger, now, createId }: RecordOptions): ExecutionRecord {
  return {
    open({ principal, source }) {
      const execution = { id: createId(), principal: principal.id, source: digestOf(source), startedAt: now() };
      const detail = { source: execution.source };
      const opened = Promise.all([
        ledger.write({ actor: principal.id, action: "execution.opened", subject: execution.id, detail }),
        store.executions.open({ ...execution, sourceText: source }),
      ]);
      opened.catch(() => undefined); // whoever needs it sees the failure
      return { execution, opened };
    },
    async close(execution, result) {
      const { state, error } = result;
      const detail = { state, calls: result.calls.length, ...(error && { code: error.code }) };
      const ending = {
        endedAt: now(),
        state,
        result: JSON.stringify(result),
        ...(error && { errorCode: error.code }),
      };
      await Promise.all([
        ledger.write({ actor: execution.principal, action: "execution.closed", subject: execution.id, detail }),
        store.executions.close(execution.id, ending),
      ]);
    },
  };
}
