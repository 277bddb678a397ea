/** Opens executions in store, ledger and journal before anything runs, and closes them after everything ended. */

import { defined } from "../../domain/index.ts";
import type { Execution, ExecutionId, ExecutionResult, Instant, JsonObject, TraceContext } from "../../domain/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import type { Store } from "../../store/index.ts";
import { digestOf } from "../../text/index.ts";

import { closeExecution } from "../execution-log.ts";
import type { ExecutionLog, ExecutionOpening } from "../execution-log.ts";
import type { Journals } from "../journal.ts";
import type { JournaledRequest } from "../requests.ts";

export interface ExecutionLogOptions {
  readonly store: Pick<Store, "executions" | "flush">;
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  readonly createId: () => ExecutionId;
  /** Four random 32-bit numbers for one program. */
  readonly createSeed: () => readonly number[];
  /** The name of this process, by which others detect that it has ended. */
  readonly owner: string;
  /** Removes known secrets from the source before it is stored; the digest is that of the source as it was sent. */
  readonly hide: (text: string) => string;
  readonly journals: Pick<Journals, "begin">;
  /** Called for each execution that this process opened. */
  readonly onOpened?: (execution: ExecutionId, trace: TraceContext | undefined) => void;
  /** Called before an execution is closed; closing waits for it. */
  readonly beforeClose?: (execution: Execution, result: ExecutionResult) => Promise<void>;
  /** Called after an execution was closed. */
  readonly onClosed?: (execution: Execution, result: ExecutionResult) => void;
}

type StartedJournal = Required<Pick<ExecutionOpening, "journal" | "start">>;

export function createExecutionLog(options: ExecutionLogOptions): ExecutionLog {
  const { store, ledger, now, createId, createSeed, owner, hide, journals } = options;
  const create = ({ principal, source }: JournaledRequest): Execution => ({
    id: createId(),
    principal: principal.id,
    source: digestOf(source),
    startedAt: now(),
    owner,
  });
  const write = ({ id, principal, source }: Execution, more: JsonObject = {}): Promise<unknown> =>
    ledger.write(
      { actor: principal, action: "execution.opened", subject: id, detail: { source, ...more } },
      "committed",
    );
  const createOpening = (execution: Execution, started: StartedJournal, opened: Promise<unknown>): ExecutionOpening => {
    opened.catch(() => undefined); // those who await it see the failure
    let flushed: Promise<unknown> | undefined;
    return { execution, opened, durable: () => (flushed ??= opened.then(() => store.flush())), ...started };
  };
  const begin = ({ id, startedAt }: Execution, request: JournaledRequest): StartedJournal => {
    const journal = journals.begin(id);
    const start = { seed: createSeed(), atMs: startedAt };
    journal.note({ kind: "asked", ...toJournaled(request), start });
    return { journal, start };
  };
  return {
    open(request) {
      const execution = create(request);
      const started = begin(execution, request);
      const opened = Promise.all([
        write(execution, describeStart(request)),
        store.executions.open({ ...execution, sourceText: hide(request.source) }),
        started.journal.write(),
      ]);
      options.onOpened?.(execution.id, request.trace);
      return createOpening(execution, started, opened);
    },
    async openOnce(request, key) {
      const execution = create(request);
      const started = begin(execution, request);
      const opening = { ...execution, sourceText: hide(request.source), journal: started.journal.take() };
      const holder = await store.executions.openOnce(opening, key);
      if (holder) return { holder };
      options.onOpened?.(execution.id, request.trace);
      const opened = write(execution, { key: digestOf(key.key), ...describeStart(request) });
      return { opening: createOpening(execution, started, opened) };
    },
    async close(execution, result) {
      await options.beforeClose?.(execution, result);
      await closeExecution(execution, result, options);
      options.onClosed?.(execution, result);
    },
  };
}

/** Without listeners and signals, which differ each time the program runs. */
function toJournaled(request: JournaledRequest): JournaledRequest {
  const { principal, source, limits, input, analysis, types, networkPolicy, dryRun } = request;
  return {
    principal,
    source,
    limits,
    ...defined({ input, analysis, types, networkPolicy }),
    ...(dryRun && { dryRun }),
  };
}

/** The ledger shows whether its calls may change anything. */
function describeStart({ dryRun = false }: JournaledRequest): JsonObject {
  return dryRun ? { dryRun } : {};
}
