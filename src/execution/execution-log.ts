/** Opens executions in store, ledger and journal before anything runs, and closes them after everything ended. */

import { ERRORS, defined } from "../domain/index.ts";
import type {
  CallRecord,
  Execution,
  ExecutionId,
  ExecutionResult,
  Instant,
  JsonObject,
  PrincipalId,
  PublicError,
  TraceContext,
} from "../domain/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { TapeStart } from "../sandbox/index.ts";
import type { KeyHolder, RequestKey, Store } from "../store/index.ts";
import { digestOf } from "../text/index.ts";
import { MINUTE_MS, createRecent } from "../timing/index.ts";

import type { Journal, Journals } from "./journal.ts";
import { toCallRecords } from "./ledger-trail.ts";
import type { ClosingRecord, LedgerTrail } from "./ledger-trail.ts";
import type { ExecutionRequest, JournaledRequest } from "./requests.ts";
import { emptyResult } from "./settle.ts";
import type { SettleDeps } from "./settle.ts";

/** An execution that was opened and has not run yet. */
export interface ExecutionOpening {
  readonly execution: Execution;
  /**
   * Resolves once the opening survives a crash of this process; with `always`, a power cut. No call may leave before, and
   * no result may be returned when it rejects. Later records are not on disk before it.
   */
  readonly opened: Promise<unknown>;
  readonly journal: Journal;
  /** The seed and the clock of its program, written with the opening. */
  readonly start?: TapeStart;
}

export interface ExecutionLog {
  /** Does not wait for the write: the program may start meanwhile, but no call may leave. */
  open(request: ExecutionRequest, id?: ExecutionId): ExecutionOpening;
  /** Like `open`, but only for the first request with its key, which is stored when it resolves. */
  openOnce(
    request: ExecutionRequest,
    key: RequestKey,
    id?: ExecutionId,
  ): Promise<{ readonly opening: ExecutionOpening } | { readonly holder: KeyHolder }>;
  /** All that the execution wrote before is as durable as its end when it resolves. */
  close(execution: Execution, result: ExecutionResult): Promise<void>;
  /**
   * For a request that was refused and never opened: one small record in the ledger. Of a principal, only some are written
   * in a minute; the next one has the number of those that were not.
   */
  refuse(request: Pick<ExecutionRequest, "principal" | "source">, result: ExecutionResult): Promise<void>;
}

/**
 * When records of executions wait for the disk. `default`: the end of an execution, unless all its calls were plain reads;
 * `always`: its opening and its end. The intent of a call that may change something always does (`src/bridge/`).
 */
export type ExecutionDurability = "default" | "always";

/** What `closeExecution` writes to. */
interface CloseDeps {
  readonly store: { readonly executions: Pick<Store["executions"], "close"> };
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  readonly durability?: ExecutionDurability;
  /** Called with the approximate size of what was stored. */
  readonly onStored?: (bytes: number) => void;
}

export interface ExecutionLogOptions extends CloseDeps {
  readonly store: Pick<Store, "executions">;
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

/** Refusals of one principal that are written in a minute. */
const MAX_REFUSALS = 10;
/** Principals whose refusals are counted. */
const MAX_PRINCIPALS = 1_000;

export function createExecutionLog(options: ExecutionLogOptions): ExecutionLog {
  const { store, ledger, now, createId, createSeed, owner, hide, journals, durability } = options;
  const begin = (request: ExecutionRequest, id: ExecutionId) => {
    const { principal, source } = request;
    const execution = { id, principal: principal.id, source: digestOf(source), startedAt: now(), owner };
    const journal = journals.begin(id);
    const start = { seed: createSeed(), atMs: execution.startedAt };
    journal.note({ kind: "asked", ...toJournaled(request), start });
    return { execution, journal, start };
  };
  const write = ({ id, principal, source }: Execution, request: ExecutionRequest, key?: string): Promise<unknown> => {
    // The ledger shows whether its calls may change anything.
    const optional = { key: key && digestOf(key), dryRun: request.dryRun || undefined, trace: traceOf(request) };
    const detail = { source, ...defined(optional) };
    const entry = { actor: principal, action: "execution.opened", subject: id, detail };
    return ledger.write(entry, durability === "always" ? "flushed" : "committed");
  };
  const toOpening = (started: ReturnType<typeof begin>, opened: Promise<unknown>): ExecutionOpening => {
    opened.catch(() => undefined); // those who await it see the failure
    return { ...started, opened };
  };
  return {
    open(request, id = createId()) {
      const started = begin(request, id);
      const { execution, journal } = started;
      options.onStored?.(request.source.length);
      const opened = Promise.all([
        write(execution, request),
        store.executions.open({ ...execution, sourceText: hide(request.source) }),
        journal.write(),
      ]);
      options.onOpened?.(execution.id, request.trace);
      return toOpening(started, opened);
    },
    async openOnce(request, key, id = createId()) {
      const started = begin(request, id);
      const { execution, journal } = started;
      const row = { ...execution, sourceText: hide(request.source), journal: journal.take() };
      const holder = await store.executions.openOnce(row, key);
      if (holder) return { holder };
      options.onStored?.(request.source.length);
      options.onOpened?.(execution.id, request.trace);
      return { opening: toOpening(started, write(execution, request, key.key)) };
    },
    async close(execution, result) {
      await options.beforeClose?.(execution, result);
      await closeExecution(execution, result, options);
      options.onClosed?.(execution, result);
    },
    refuse: createRefuse(options),
  };
}

/** The id of the client's trace: the second part of its header. */
function traceOf({ trace }: Pick<ExecutionRequest, "trace">): string | undefined {
  return trace?.traceparent.split("-")[1];
}

function createRefuse({ ledger, now, owner, onClosed }: ExecutionLogOptions): ExecutionLog["refuse"] {
  const countRefusal = createRefusalCount(now);
  return async ({ principal: { id: actor }, source: text }, result) => {
    const { execution: id, error } = result;
    const source = digestOf(text);
    const unrecorded = countRefusal(actor);
    onClosed?.({ id, principal: actor, source, startedAt: now(), owner }, result);
    if (unrecorded === undefined) return;
    const detail = { source, ...defined({ code: error?.code, unrecorded: unrecorded || undefined }) };
    await ledger.write({ actor, action: "execution.refused", subject: id, detail }, "committed");
  };
}

/** Returns how many refusals of a principal were not written since the last one; `undefined` if this one is not, either. */
function createRefusalCount(now: () => Instant): (principal: PrincipalId) => number | undefined {
  const counts = createRecent<PrincipalId, { since: Instant; written: number; unrecorded: number }>(MAX_PRINCIPALS);
  return (principal) => {
    const count = counts.getOr(principal, () => ({ since: now(), written: 0, unrecorded: 0 }));
    if (Math.abs(now() - count.since) >= MINUTE_MS) Object.assign(count, { since: now(), written: 0 });
    const isWritten = count.written < MAX_REFUSALS;
    const { unrecorded } = count;
    count.written += isWritten ? 1 : 0;
    count.unrecorded = isWritten ? 0 : unrecorded + 1;
    return isWritten ? unrecorded : undefined;
  };
}

/** Without listeners and signals, which differ each time the program runs. */
function toJournaled(request: JournaledRequest): JournaledRequest {
  const { principal, source, limits, input, analysis, types, networkPolicy, dryRun } = request;
  return {
    principal,
    source,
    limits,
    ...defined({ input, analysis, types, networkPolicy, dryRun: dryRun || undefined }),
  };
}

/** Closes it in the store and in the ledger. The caller must own the execution. */
export async function closeExecution(
  { id, principal }: Pick<Execution, "id" | "principal">,
  result: ExecutionResult,
  { store, ledger, now, durability = "default", onStored }: CloseDeps,
): Promise<void> {
  const { state, error } = result;
  const text = JSON.stringify(result);
  const detail = describeEnd(result, text);
  const ending = {
    endedAt: now(),
    state,
    result: text,
    tools: toolsOf(result),
    ...defined({ errorCode: error?.code }),
  };
  const action = state === "paused" ? "execution.paused" : "execution.closed";
  const canWait = durability === "default" && state !== "paused" && result.calls.every(isPlainRead);
  // The store first: writes commit in the order of their requests, so a kill between the two loses no result.
  const writes = [
    store.executions.close(id, ending),
    ledger.write({ actor: principal, action, subject: id, detail }, canWait ? "committed" : "flushed"),
  ];
  await Promise.all(writes).catch(async (thrown: unknown) => {
    // A later attempt must find what the other write has left.
    await Promise.allSettled(writes);
    throw thrown;
  });
  onStored?.(text.length);
}

function toolsOf({ calls }: ExecutionResult): readonly string[] {
  return [...new Set(calls.map(({ tool }) => tool))];
}

/** It changed nothing, and no person was asked: it can be made again when a power cut undoes its record. */
function isPlainRead({ effect, decision }: CallRecord): boolean {
  return effect === "read" && decision === "allow";
}

/** The digest is that of the stored result, so that `audit verify` also detects a changed result. */
export function describeEnd({ state, error, calls, stats, labels }: ExecutionResult, text: string): JsonObject {
  const { wallMs, cpuMs, outputBytes: output } = stats;
  const optional = defined({ code: error?.code, labels: labels?.map(({ label }) => label) });
  return { state, calls: calls.length, result: digestOf(text), wallMs, cpuMs, output, ...optional };
}

/**
 * Closes an execution in the store that its process had closed in the ledger only. It does not run again. The caller must
 * own it. Its value and its logs were lost with the process.
 */
export async function closeFromLedger(
  { id }: Pick<Execution, "id">,
  { closing, calls }: LedgerTrail & { readonly closing: ClosingRecord },
  deps: Pick<SettleDeps, "engine" | "isolation"> & Pick<CloseDeps, "store">,
): Promise<ExecutionResult> {
  const { at, state, errorCode, wallMs, cpuMs } = closing;
  const empty = emptyResult({ id }, state, deps);
  const result: ExecutionResult = {
    ...empty,
    calls: toCallRecords(calls),
    error: toLostError(closing, calls),
    stats: { ...empty.stats, wallMs, cpuMs, calls: calls.length },
  };
  const text = JSON.stringify(result);
  const ending = { endedAt: at, state, result: text, tools: toolsOf(result), ...defined({ errorCode }) };
  await deps.store.executions.close(id, ending);
  return result;
}

function toLostError({ state, errorCode }: ClosingRecord, calls: readonly CallRecord[]): PublicError {
  const code = errorCode ?? "STORE_UNAVAILABLE";
  const how = errorCode ? `${state} with ${errorCode}` : state;
  return {
    code,
    message: `The execution ${how}, but Glovebox ended before its result was stored`,
    // A completed program did its work, and a call may have changed something.
    retry: state === "failed" && ERRORS[code].retry && calls.length === 0,
    hint: adviseRetry(calls),
  };
}

/** Advice about running the program again, when the outcome of every call is known. */
export function adviseRetry({ length }: readonly CallRecord[]): string {
  if (length === 0) return "It had not called anything: run the program again";
  return "Changes made by its calls remain; check them before you run the program again";
}
