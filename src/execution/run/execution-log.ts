/** The two ends of every execution in store and ledger: opened before anything runs, closed after everything ended. */

import { digestOf } from "../../text/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import type { Execution, ExecutionId, ExecutionResult, Instant, JsonObject } from "../../domain/index.ts";
import type { TapeStart } from "../../sandbox/index.ts";
import type { KeyHolder, RequestKey, Store } from "../../store/index.ts";

import type { ExecutionRequest } from "./execute.ts";
import type { JournaledRequest } from "../journal/events.ts";
import type { Journal, Journals } from "../journal/open-journals.ts";

export interface ExecutionLogOptions {
  readonly store: Pick<Store, "executions" | "flush">;
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  readonly createId: () => ExecutionId;
  /** Four random 32-bit numbers for one program. */
  readonly createSeed: () => readonly number[];
  /** The name of this process, by which others can tell that it has ended. */
  readonly owner: string;
  /** Takes known secrets out of a program's text before it is kept; its digest is that of the text as it was sent. */
  readonly hide: (text: string) => string;
  readonly journals: Pick<Journals, "begin">;
}

export interface OpenedExecution {
  readonly execution: Execution;
  /** Settles once it is written and outlives this process, or rejects: then no result may be given out. */
  readonly opened: Promise<unknown>;
  /** Settles once it is on disk too, before which no call may leave; what is recorded later is not on disk before it. */
  readonly durable: () => Promise<unknown>;
  readonly journal: Journal;
  /** Where chance and time begin for its program: written with the opening. */
  readonly start?: TapeStart;
}

export interface ExecutionLog {
  /** Does not wait: a program may start meanwhile, as long as it reaches nothing. */
  open(request: ExecutionRequest): OpenedExecution;
  /** As `open`, but only for the first request with its key; it is on disk then. */
  claim(
    request: ExecutionRequest,
    key: RequestKey,
  ): Promise<{ readonly opening: OpenedExecution } | { readonly holder: KeyHolder }>;
  close(execution: Execution, result: ExecutionResult): Promise<void>;
}

export function createExecutionLog(options: ExecutionLogOptions): ExecutionLog {
  const { store, ledger, now, createId, createSeed, owner, hide, journals } = options;
  const create = ({ principal, source }: ExecutionRequest): Execution => ({
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
  const createOpening = (execution: Execution, started: StartedJournal, opened: Promise<unknown>): OpenedExecution => {
    opened.catch(() => undefined); // whoever needs it sees the failure
    let flushed: Promise<unknown> | undefined;
    return { execution, opened, durable: () => (flushed ??= opened.then(() => store.flush())), ...started };
  };
  const begin = ({ id, startedAt }: Execution, request: ExecutionRequest): StartedJournal => {
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
      return createOpening(execution, started, opened);
    },
    async claim(request, key) {
      const execution = create(request);
      const started = begin(execution, request);
      const opening = { ...execution, sourceText: hide(request.source), journal: started.journal.take() };
      const holder = await store.executions.openOnce(opening, key);
      if (holder) return { holder };
      const opened = write(execution, { key: digestOf(key.key), ...describeStart(request) });
      return { opening: createOpening(execution, started, opened) };
    },
    close: (execution, result) => closeExecution(execution, result, options),
  };
}

type StartedJournal = Required<Pick<OpenedExecution, "journal" | "start">>;

/** In store and ledger at once; whoever closes it must have it. */
export async function closeExecution(
  { id, principal }: Pick<Execution, "id" | "principal">,
  result: ExecutionResult,
  { store, ledger, now }: CloseOptions,
): Promise<void> {
  const { state, error } = result;
  const text = JSON.stringify(result);
  const detail = describeEnd(result, text);
  const ending = { endedAt: now(), state, result: text, ...(error && { errorCode: error.code }) };
  const action = state === "paused" ? "execution.paused" : "execution.closed";
  // The store first: what is asked for earlier is not committed later, so that a kill between them loses no result.
  await Promise.all([
    store.executions.close(id, ending),
    ledger.write({ actor: principal, action, subject: id, detail }),
  ]);
}

/** What an end is written with. */
export interface CloseOptions extends Pick<ExecutionLogOptions, "ledger" | "now"> {
  readonly store: { readonly executions: Pick<Store["executions"], "close"> };
}

/** What can be asked again. Who listens, and how to stop it, is another matter each time. */
function toJournaled(request: ExecutionRequest): JournaledRequest {
  const { principal, source, limits, input, analysis, types, networkPolicy, dryRun } = request;
  return {
    principal,
    source,
    limits,
    ...(input !== undefined && { input }),
    ...(analysis !== undefined && { analysis }),
    ...(types !== undefined && { types }),
    ...(networkPolicy && { networkPolicy }),
    ...(dryRun && { dryRun }),
  };
}

/** What its calls may do is part of what was asked for. */
function describeStart({ dryRun = false }: ExecutionRequest): JsonObject {
  return dryRun ? { dryRun } : {};
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
