/** The two ends of every execution in store and ledger: opened before anything runs, closed after everything ended. */

import { digestOf } from "../audit/index.ts";
import type { Ledger } from "../audit/index.ts";
import type { Execution, ExecutionId, ExecutionResult, Instant, JsonObject } from "../domain/index.ts";
import type { KeyHolder, RequestKey, Store } from "../store/index.ts";

import type { ExecutionRequest } from "./execute.ts";

export interface RecordOptions {
  readonly store: Pick<Store, "executions">;
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  readonly createId: () => ExecutionId;
  /** The name of this process, by which others can tell that it has ended. */
  readonly owner: string;
  /** Takes known secrets out of a program's text before it is kept; its digest is that of the text as it was sent. */
  readonly hide: (text: string) => string;
}

export interface Opening {
  readonly execution: Execution;
  /** Settles once it is on disk, or rejects: then no call may leave and no result be given out. */
  readonly opened: Promise<unknown>;
}

export interface ExecutionRecord {
  /** Does not wait for the disk: a program may start meanwhile, as long as it reaches nothing. */
  open(request: ExecutionRequest): Opening;
  /** As `open`, but only for the first request with its key; it is on disk then. */
  claim(
    request: ExecutionRequest,
    key: RequestKey,
  ): Promise<{ readonly opening: Opening } | { readonly holder: KeyHolder }>;
  close(execution: Execution, result: ExecutionResult): Promise<void>;
}

export function createRecord({ store, ledger, now, createId, owner, hide }: RecordOptions): ExecutionRecord {
  const create = ({ principal, source }: ExecutionRequest): Execution => ({
    id: createId(),
    principal: principal.id,
    source: digestOf(source),
    startedAt: now(),
    owner,
  });
  const write = ({ id, principal, source }: Execution, more: JsonObject = {}): Promise<unknown> =>
    ledger.write({ actor: principal, action: "execution.opened", subject: id, detail: { source, ...more } });
  return {
    open(request) {
      const execution = create(request);
      const opened = Promise.all([
        write(execution),
        store.executions.open({ ...execution, sourceText: hide(request.source) }),
      ]);
      opened.catch(() => undefined); // whoever needs it sees the failure
      return { execution, opened };
    },
    async claim(request, key) {
      const execution = create(request);
      const holder = await store.executions.claim({ ...execution, sourceText: hide(request.source) }, key);
      if (holder) return { holder };
      const opened = write(execution, { key: digestOf(key.key) });
      opened.catch(() => undefined);
      return { opening: { execution, opened } };
    },
    async close(execution, result) {
      const { state, error } = result;
      const text = JSON.stringify(result);
      const detail = describeEnd(result, text);
      const ending = { endedAt: now(), state, result: text, ...(error && { errorCode: error.code }) };
      await Promise.all([
        ledger.write({ actor: execution.principal, action: "execution.closed", subject: execution.id, detail }),
        store.executions.close(execution.id, ending),
      ]);
    },
  };
}

/** The digest is that of the stored result, so that a change of that would show too. */
export function describeEnd({ state, error, calls, stats, labels }: ExecutionResult, text: string): JsonObject {
  const { wallMs, cpuMs } = stats;
  return {
    state,
    calls: calls.length,
    result: digestOf(text),
    wallMs,
    cpuMs,
    ...(error && { code: error.code }),
    ...(labels && { labels: labels.map(({ label }) => label) }),
  };
}
