/**
 * Resumes an execution that was suspended or whose process died: the same program receives its earlier deliveries again
 * in a new isolate and continues from there. No call that was answered is made again.
 */

import type { AskDecision } from "../../bridge/index.ts";
import { DEFAULT_LIMITS, GloveboxError, defined, describeError, isInputRequest } from "../../domain/index.ts";
import type {
  Approval,
  CatalogSnapshot,
  Execution,
  ExecutionResult,
  LabelSource,
  Principal,
  Program,
} from "../../domain/index.ts";
import type { StoredExecution } from "../../store/index.ts";

import type { ExecutionDeps, RecordDeps, RunProgram } from "../deps.ts";
import type { ExecutionOpening } from "../execution-log.ts";
import { allDeliveries, programOf } from "../journal.ts";
import type { Journal, Recording } from "../journal.ts";
import { parseStoredResult } from "../journal-schema.ts";
import {
  findLostCalls,
  findMissingCalls,
  readTrail,
  recordCallEnd,
  recordOpeningOnce,
  toCallRecords,
} from "../ledger-trail.ts";
import type { LedgerTrail } from "../ledger-trail.ts";
import { attributeToQuota, releaseIfLost, runWithinQuotas } from "../quotas.ts";
import type { ExecutionRequest } from "../requests.ts";
import { unlessCancelled } from "../running-table.ts";
import type { TableEntry } from "../running-table.ts";
import { emptyResult, markDryRun, settleFailure, toTenths } from "../settle.ts";
import { untilWritten } from "./until-written.ts";
import {
  UpstreamUnavailable,
  findUnchangedTools,
  gatewayClosing,
  listBegunSkills,
  listUsedTools,
} from "./wait-to-resume.ts";

export interface ResumeDeps
  extends RecordDeps, Pick<ExecutionDeps, "admit" | "labelSession" | "resolvePrincipal" | "skills" | "snapshot"> {
  /** Fires when the gateway is about to close. */
  readonly leaving: AbortSignal;
  /** Runs a program that never started, from its source. */
  attempt(opening: ExecutionOpening, request: ExecutionRequest): Promise<ExecutionResult>;
  /** Checks the types of a program that started before its verdict. Rejects with PROGRAM_TYPES. */
  checkAgain(program: Program, request: ExecutionRequest): Promise<Program>;
  readonly runProgram: RunProgram;
}

/** Why an execution is resumed, as the ledger records it. */
export type ResumeReason = "decided" | "restarted";

export interface ResumeOptions {
  readonly why: ResumeReason;
  /** What the ledger records about it, if nothing can have been added since; otherwise it is read after the claim. */
  readonly trail?: LedgerTrail;
  readonly entry: TableEntry;
}

/** Returns `undefined` when another process resumes it, or when it has ended meanwhile. */
export async function resumeExecution(
  stored: StoredExecution,
  { why, trail: known, entry }: ResumeOptions,
  deps: ResumeDeps,
): Promise<ExecutionResult | undefined> {
  const { owner } = deps;
  const { id, principal, source, startedAt, ending } = stored;
  const was = ending ? "paused" : "open";
  if (!(await deps.store.executions.claim(id, { was, from: stored.owner, by: owner }))) return undefined;
  const execution = { id, principal, source, startedAt, owner };
  return entry.start(id, async () => {
    // No other process resumes it now, so a refused record must not end this.
    const trail = await untilWritten(async (isFirst) => {
      const found = (isFirst && known) || (await readTrail(id, deps));
      if (why === "restarted") await recordOpeningOnce(execution, found, deps);
      await deps.ledger.write({ actor: principal, action: "execution.resumed", subject: id, detail: { why } });
      return found;
    }, deps);
    return runResumed(execution, { stored, trail, why, entry }, deps);
  });
}

type ResumedRun = Required<ResumeOptions> & { readonly stored: StoredExecution };

/** Runs it and closes it, whatever happens. */
async function runResumed(execution: Execution, run: ResumedRun, deps: ResumeDeps): Promise<ExecutionResult> {
  const { stored, why } = run;
  const { id } = execution;
  const result = await runWithinQuota(execution, run, deps).catch(async (thrown: unknown) => {
    if (why === "restarted") await releaseIfLost(stored, deps);
    const isUnavailable = thrown instanceof UpstreamUnavailable;
    const ended = isUnavailable ? suspendAgain(stored, thrown, deps) : settleFailure(execution, thrown, deps);
    return { ...ended, calls: toCallRecords((await readTrail(id, deps)).calls) };
  });
  if (result.state !== "paused") await deps.approvals.withdraw(id);
  const whole = addStats(result, stored);
  await deps.log.close(execution, whole);
  return whole;
}

async function runWithinQuota(
  execution: Execution,
  { stored, trail, why, entry }: ResumedRun,
  deps: ResumeDeps,
): Promise<ExecutionResult> {
  const { recording, journal } = await reopenJournal(stored, trail, deps);
  const opened = Promise.resolve();
  const { start } = recording;
  const opening: ExecutionOpening = { execution, opened, journal, ...defined({ start }) };
  // The journal of an earlier version does not have every limit.
  const principal = await findPrincipal(execution, recording, deps);
  const known = { ...recording.request, principal, limits: { ...DEFAULT_LIMITS, ...recording.request.limits } };
  const request: ExecutionRequest = { ...known, signal: entry.signal, onEvent: entry.onEvent, inputs: entry.inputs };
  const { limits: wanted } = request;
  const when = why === "restarted" ? why : "again";
  const result = await runWithinQuotas({ execution: execution.id, principal, limits: wanted, when }, deps.admit, {
    run: async (limits, shortenedBy) =>
      attributeToQuota(await resumeProgram(opening, { ...request, limits }, { recording, deps }), limits, shortenedBy),
    wallMsOf: ({ stats }) => stats.wallMs,
  });
  await (result.state === "paused" ? journal.flush() : journal.write().catch(() => undefined));
  return markDryRun(result, request);
}

/** What it may do now counts, not what it could when the program started. A revoked token resumes nothing. */
async function findPrincipal(
  { principal: id }: Execution,
  { request }: Recording,
  deps: ResumeDeps,
): Promise<Principal> {
  const { session, passesLabels } = request.principal;
  const now = await deps.resolvePrincipal(id);
  if (now) return { ...now, ...defined({ session, passesLabels }) };
  throw new GloveboxError("POLICY_DENIED", `${id} is no longer valid, so its program is not resumed`, {
    hint: "Its access token was revoked or has expired, or its person was removed",
  });
}

/** Read after the claim: the earlier owner may have written until then. */
async function reopenJournal(
  stored: StoredExecution,
  { calls }: LedgerTrail,
  deps: ResumeDeps,
): Promise<{ readonly recording: Recording; readonly journal: Journal }> {
  const { id, ending } = stored;
  const reopened = await deps.journals.reopen(id);
  if (!reopened?.recording.isWhole) throw cannotResume("The journal of this execution is no longer complete");
  const [lost] = (ending ? findMissingCalls : findLostCalls)(calls, reopened.recording);
  if (lost) throw cannotResume(`The journal lacks the reply of ${lost.tool} to call ${lost.seq} of this execution`);
  const open = new Set(calls.flatMap(({ seq, hasEnd }) => (hasEnd ? [] : [seq])));
  // A process can be killed between the journal and the ledger: every delivered call has its end in the ledger.
  for (const { call } of allDeliveries(reopened.recording))
    if (call && open.has(call.record.seq)) await recordCallEnd(stored, call.record, deps);
  return reopened;
}

async function resumeProgram(
  opening: ExecutionOpening,
  request: ExecutionRequest,
  { recording, deps }: { readonly recording: Recording; readonly deps: ResumeDeps },
): Promise<ExecutionResult> {
  const started = programOf(recording);
  // It never started, so it had no effect: it runs as if the request came now.
  if (!started) return deps.attempt(opening, request);
  const { principal, signal } = request;
  const approvals = await deps.approvals.list({ execution: opening.execution.id });
  const began = listBegunSkills(recording);
  const takeNow = async (): Promise<CatalogSnapshot> => {
    const now = await deps.snapshot(principal);
    return began.size > 0 && deps.skills ? deps.skills.keep(now, began) : now;
  };
  const take = (): Promise<CatalogSnapshot> => unlessCancelled(takeNow(), signal);
  const snapshot = await findUnchangedTools(listUsedTools(recording, approvals), take, signal).catch(
    (thrown: unknown) => {
      throw deps.leaving.aborted ? gatewayClosing() : thrown; // it has not started again, so it stays suspended
    },
  );
  const isUnchecked = recording.started?.isUnchecked === true;
  const program = isUnchecked ? await deps.checkAgain(started, request) : started;
  if (isUnchecked) opening.journal.note({ kind: "checked", findings: program.findings });
  await deps.labelSession(principal, labelsIn(recording, approvals));
  // The resumed program is bound by the answers to what the earlier run asked for, or waits for them.
  const asked = new Map(
    approvals
      .filter(({ id }) => !isInputRequest(id)) // an upstream asks again, and is given the same answer
      .map(({ seq, rule, reason }): [number, AskDecision] => [seq, { kind: "ask", rule, reason }]),
  );
  return deps.runProgram(opening, request, { snapshot, program, recording, asked });
}

/** What the session had read: this process may not know it. */
function labelsIn(recording: Recording, approvals: readonly Approval[]): readonly LabelSource[] {
  const before = recording.started?.labels ?? [];
  const received = [recording, ...(recording.frames ?? [])];
  const read = received.flatMap((one) => one.deliveries.findLast(({ call }) => call?.labels)?.call?.labels ?? []);
  return [...before, ...read, ...approvals.flatMap(({ labels }) => labels)];
}

function cannotResume(message: string): GloveboxError {
  return new GloveboxError("REPLAY_DIVERGED", message, {
    hint: "Run the program again from the start; changes made by its calls remain",
  });
}

/** It waits for its upstream as it waited for an approval. */
function suspendAgain(stored: StoredExecution, reason: UpstreamUnavailable, deps: ResumeDeps): ExecutionResult {
  const { approvals, questions } = stored.ending ? parseStoredResult(stored.id, stored.ending.result) : {};
  return {
    ...emptyResult(stored, "paused", deps),
    error: describeError(reason),
    ...defined({ approvals, questions }),
  };
}

/** Adds what it used before it was suspended. */
function addStats(result: ExecutionResult, { id, ending }: StoredExecution): ExecutionResult {
  const before = ending ? parseStoredResult(id, ending.result).stats : undefined;
  if (!before) return result;
  const { stats } = result;
  return {
    ...result,
    stats: {
      ...stats,
      queueMs: toTenths(stats.queueMs + before.queueMs),
      wallMs: toTenths(stats.wallMs + before.wallMs),
      cpuMs: toTenths(stats.cpuMs + before.cpuMs),
      peakMemoryBytes: Math.max(stats.peakMemoryBytes, before.peakMemoryBytes),
      switches: (stats.switches ?? 0) + (before.switches ?? 0),
    },
  };
}
