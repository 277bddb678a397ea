/**
 * Goes on with an execution that was put away or whose process died: the same program in a fresh isolate is given what
 * it was given before, and then goes on from there. No call that was answered is made again.
 */

import { GloveboxError, describeError } from "../../domain/index.ts";
import type { AskDecision } from "../../bridge/index.ts";
import type {
  Approval,
  CallRecord,
  CatalogSnapshot,
  Execution,
  ExecutionEvent,
  ExecutionResult,
  LabelSource,
  Principal,
} from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import { listUsedTools } from "./await-upstreams.ts";
import type { OpenedExecution } from "../run/execution-log.ts";
import { attempt, markDryRun, unlessCancelled } from "../run/execute.ts";
import type { ExecutionRequest, ExecutionDeps } from "../run/execute.ts";
import { findLostCalls, findMissingCalls } from "../recover/find-lost-calls.ts";
import { UpstreamUnavailable, findUnchangedTools, gatewayClosing } from "./find-unchanged.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import type { Recording } from "../journal/events.ts";
import type { Journal, Journals } from "../journal/open-journals.ts";
import { readTrail, toTrace } from "../recover/read-trail.ts";
import type { Trail } from "../recover/read-trail.ts";
import { recordOpeningOnce } from "../recover/record-opening.ts";
import type { OpeningDeps } from "../recover/record-opening.ts";
import { releaseQuotaIfLost } from "../recover/recover-execution.ts";
import type { RecoverDeps } from "../recover/recover-execution.ts";
import { programOf, runProgram } from "../run/run-program.ts";
import { parseResult } from "../history/view-execution.ts";
import { emptyResult, settleFailure } from "../run/settle.ts";
import { attributeToQuota, runWithinQuotas } from "../run/within-quotas.ts";

export interface ResumeDeps extends ExecutionDeps, OpeningDeps, Pick<RecoverDeps, "hasEnded" | "releaseQuota"> {
  readonly store: {
    readonly executions: Pick<Store["executions"], "claim">;
    readonly ledger: Pick<Store["ledger"], "search">;
  };
  readonly journals: OpeningDeps["journals"] & Pick<Journals, "reopen">;
  /** The name of this process. */
  readonly owner: string;
  /** Writes down what came of a call whose process died before it could. */
  recordEnd(execution: Execution, call: CallRecord): Promise<unknown>; // audit
  /** Written down before anything of it happens. */
  recordResumption(execution: OpenedExecution["execution"], why: ResumeReason): Promise<unknown>; // audit
  /** What its calls brought in before counts for its session again. */
  takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
}

/** Why an execution goes on. */
export type ResumeReason = "decided" | "restarted";

export interface ResumeOptions {
  readonly why: ResumeReason;
  /** What the ledger has of it, when nobody can have written more since; otherwise that is read once it is ours. */
  readonly read?: Trail;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ExecutionEvent) => void;
}

/** `undefined` when somebody else goes on with it, or when it has ended meanwhile. */
export async function resumeExecution(
  stored: StoredExecution,
  options: ResumeOptions,
  rooms: ResumeDeps,
): Promise<ExecutionResult | undefined> {
  const { owner } = rooms;
  const { id, principal, source, startedAt, ending } = stored;
  const was = ending ? "paused" : "open";
  if (!(await rooms.store.executions.claim(id, { was, from: stored.owner, by: owner }))) return undefined;
  const execution = { id, principal, source, startedAt, owner };
  const trail = options.read ?? (await readTrail(id, rooms));
  if (options.why === "restarted") await recordOpeningOnce(execution, trail, rooms);
  await rooms.recordResumption(execution, options.why);
  options.onEvent({ kind: "opened", execution: id });
  const kept = reopenJournal(stored, trail, rooms);
  const result = await resumeWithinQuotas(execution, { ...options, kept }, rooms).catch(async (thrown: unknown) => {
    if (options.why === "restarted") await releaseQuotaIfLost(stored, rooms);
    return {
      ...(thrown instanceof UpstreamUnavailable
        ? suspendAgain(stored, thrown, rooms)
        : settleFailure(execution, thrown, rooms)),
      calls: toTrace((await readTrail(id, rooms)).calls),
    };
  });
  if (result.state !== "paused") await rooms.people.withdraw(id);
  const whole = addStats(result, stored);
  await rooms.close(execution, whole);
  return whole;
}

async function resumeWithinQuotas(
  execution: OpenedExecution["execution"],
  { why, signal, onEvent, kept: reopened }: ResumeOptions & { readonly kept: Promise<ReopenedJournal> },
  rooms: ResumeDeps,
): Promise<ExecutionResult> {
  const { recording, journal } = await reopened;
  const opened = Promise.resolve();
  const { start } = recording;
  const opening: OpenedExecution = { execution, opened, durable: () => opened, journal, ...(start && { start }) };
  const request: ExecutionRequest = { ...recording.request, signal, onEvent };
  const patient = { ...rooms, run: retryWhileBusy({ run: (job) => rooms.run(job), leaving: rooms.leaving }) };
  const { principal, limits: asked } = request;
  const when = why === "restarted" ? why : "again";
  const result = await runWithinQuotas({ execution: execution.id, principal, limits: asked, when }, rooms.admit, {
    run: async (limits, shortenedBy) =>
      attributeToQuota(
        await resumeProgram(opening, { ...request, limits }, { recording, rooms: patient }),
        limits,
        shortenedBy,
      ),
    wallMsOf: ({ stats }) => stats.wallMs,
  });
  const kept = journal.flush();
  await (result.state === "paused" ? kept : kept.catch(() => undefined));
  return markDryRun(result, request);
}

interface ReopenedJournal {
  readonly recording: Recording;
  readonly journal: Journal;
}

/** Read once it is ours: whoever had it before may have written on until then. */
async function reopenJournal(stored: StoredExecution, { calls }: Trail, rooms: ResumeDeps): Promise<ReopenedJournal> {
  const { id, ending } = stored;
  const kept = await rooms.journals.reopen(id);
  if (!kept?.recording.isWhole) throw cannotResume("What this execution had been given is not kept any more");
  const [lost] = (ending ? findMissingCalls : findLostCalls)(calls, kept.recording);
  if (lost) throw cannotResume(`What ${lost.tool} answered to call ${lost.seq} of this execution is not kept`);
  const open = new Set(calls.flatMap(({ seq, hasEnd }) => (hasEnd ? [] : [seq])));
  // A process can be killed between the journal and the ledger: what the program was given has an end there too.
  for (const { call } of kept.recording.deliveries)
    if (call && open.has(call.record.seq)) await rooms.recordEnd(stored, call.record);
  return kept;
}

async function resumeProgram(
  opening: OpenedExecution,
  request: ExecutionRequest,
  { recording, rooms }: { readonly recording: Recording; readonly rooms: ResumeDeps },
): Promise<ExecutionResult> {
  const program = programOf(recording);
  // It never began, so nothing of it happened: it is as if it were asked for now.
  if (!program) return attempt(opening, request, rooms);
  const { principal, signal } = request;
  const { id } = opening.execution;
  const questions = await rooms.people.list({ execution: id });
  const take = (): Promise<CatalogSnapshot> => unlessCancelled(rooms.snapshot(principal), signal);
  const snapshot = await findUnchangedTools(listUsedTools(recording, questions), take, signal).catch(
    (thrown: unknown) => {
      throw rooms.leaving.aborted ? gatewayClosing() : thrown; // it has not started again, so it waits on
    },
  );
  await rooms.takeIn(principal, labelsIn(recording, questions));
  const asked = new Map(questions.map((question) => [question.seq, toAskDecision(question)]));
  return runProgram(opening, request, { rooms, snapshot, program, recording, asked });
}

/** What the session had read by then; another process, or this one after a restart, knows nothing of it. */
function labelsIn({ started, deliveries }: Recording, questions: readonly Approval[]): readonly LabelSource[] {
  const before = started?.labels ?? [];
  const read = deliveries.findLast(({ call }) => call?.labels)?.call?.labels ?? [];
  return [...before, ...read, ...questions.flatMap(({ labels }) => labels)];
}

/** The question as it was put: whoever goes on is bound by its answer, or waits for it. */
function toAskDecision({ rule, reason }: Approval): AskDecision {
  return { kind: "ask", rule, reason };
}

function cannotResume(message: string): GloveboxError {
  return new GloveboxError("REPLAY_DIVERGED", message, {
    hint: "Run the program again from the start; what its calls changed stays changed",
  });
}

/** It waits for its server as it waited for people. */
function suspendAgain(stored: StoredExecution, away: UpstreamUnavailable, rooms: ResumeDeps): ExecutionResult {
  const { approvals, questions } = stored.ending ? parseResult(stored.ending.result) : {};
  return {
    ...emptyResult(stored, "paused", rooms),
    error: describeError(away),
    ...(approvals && { approvals }),
    ...(questions && { questions }),
  };
}

/** What it used before it was put away counts too. */
function addStats(result: ExecutionResult, { ending }: StoredExecution): ExecutionResult {
  const before = ending ? parseResult(ending.result).stats : undefined;
  if (!before) return result;
  const { stats } = result;
  const sum = (a: number, b: number): number => Math.round((a + b) * 10) / 10;
  return {
    ...result,
    stats: {
      ...stats,
      queueMs: sum(stats.queueMs, before.queueMs),
      wallMs: sum(stats.wallMs, before.wallMs),
      cpuMs: sum(stats.cpuMs, before.cpuMs),
      peakMemoryBytes: Math.max(stats.peakMemoryBytes, before.peakMemoryBytes),
    },
  };
}
