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

export interface ExecutionRecord {
  /** Rejects when it cannot be written down; then nothing may run. */
  open(request: ExecutionRequest): Promise<Execution>;
  close(execution: Execution, result: ExecutionResult): Promise<void>;
}

export function createRecord({ store, ledger, now, createId }: RecordOptions): ExecutionRecord {
  return {
    async open({ principal, source }) {
      const execution = { id: createId(), principal: principal.id, source: digestOf(source), startedAt: now() };
      const detail = { source: execution.source };
      await ledger.write({ actor: principal.id, action: "execution.opened", subject: execution.id, detail });
      await store.executions.open({ ...execution, sourceText: source });
      return execution;
    },
    async close(execution, result) {
      const { state, error } = result;
      const detail = { state, calls: result.calls.length, ...(error && { code: error.code }) };
      await ledger.write({ actor: execution.principal, action: "execution.closed", subject: execution.id, detail });
      await store.executions.close(execution.id, {
        endedAt: now(),
        state,
        result: JSON.stringify(result),
        ...(error && { errorCode: error.code }),
      });
    },
  };
}
