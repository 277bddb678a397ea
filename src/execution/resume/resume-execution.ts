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
import type { ExecutionStore, LedgerStore, StoredExecution } from "../../store/index.ts";

import { listKnown } from "./await-upstreams.ts";
import type { Opening } from "../run/execution-log.ts";
import { attempt, markDryRun, unlessCancelled } from "../run/execute.ts";
import type { ExecutionRequest, Rooms } from "../run/execute.ts";
import { findLost, findMissing } from "../recover/find-lost-calls.ts";
import { ServerAway, findUnchanged, notYet } from "./find-unchanged.ts";
import { inItsTurn } from "./retry-while-busy.ts";
import type { Recording } from "../journal/events.ts";
import type { Journal, Journals } from "../journal/open-journals.ts";
import { readTrail, toTrace } from "../recover/read-trail.ts";
import type { Trail } from "../recover/read-trail.ts";
import { recordOpeningOnce } from "../recover/record-opening.ts";
import type { LateRooms } from "../recover/record-opening.ts";
import { settleIfLost } from "../recover/recover-execution.ts";
import type { RecoverRooms } from "../recover/recover-execution.ts";
import { programOf, runProgram } from "../run/run-program.ts";
import { parseResult } from "../history/view-execution.ts";
import { emptyResult, settleFailure } from "../run/settle.ts";
import { blameQuota, withinQuotas } from "../run/within-quotas.ts";

export interface ReviveRooms extends Rooms, LateRooms, Pick<RecoverRooms, "hasEnded" | "settleLost"> {
  readonly store: {
    readonly executions: Pick<ExecutionStore, "claim">;
    readonly ledger: Pick<LedgerStore, "search">;
  };
  readonly journals: LateRooms["journals"] & Pick<Journals, "reopen">;
  /** The name of this process. */
  readonly owner: string;
  /** Writes down what came of a call whose process died before it could. */
  recordEnd(execution: Execution, call: CallRecord): Promise<unknown>; // audit
  /** Written down before anything of it happens. */
  recordRevival(execution: Opening["execution"], why: Revival): Promise<unknown>; // audit
  /** What its calls brought in before counts for its session again. */
  takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
}

/** Why an execution goes on. */
export type Revival = "decided" | "restarted";

export interface ReviveOptions {
  readonly why: Revival;
  /** What the ledger has of it, when nobody can have written more since; otherwise that is read once it is ours. */
  readonly read?: Trail;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ExecutionEvent) => void;
}

/** `undefined` when somebody else goes on with it, or when it has ended meanwhile. */
export async function revive(
  stored: StoredExecution,
  options: ReviveOptions,
  rooms: ReviveRooms,
): Promise<ExecutionResult | undefined> {
  const { owner } = rooms;
  const { id, principal, source, startedAt, ending } = stored;
  const was = ending ? "paused" : "open";
  if (!(await rooms.store.executions.claim(id, { was, from: stored.owner, by: owner }))) return undefined;
  const execution = { id, principal, source, startedAt, owner };
  const trail = options.read ?? (await readTrail(id, rooms));
  if (options.why === "restarted") await recordOpeningOnce(execution, trail, rooms);
  await rooms.recordRevival(execution, options.why);
  options.onEvent({ kind: "opened", execution: id });
  const kept = reopen(stored, trail, rooms);
  const result = await goOnWith(execution, { ...options, kept }, rooms).catch(async (thrown: unknown) => {
    if (options.why === "restarted") await settleIfLost(stored, rooms);
    return {
      ...(thrown instanceof ServerAway ? putBack(stored, thrown, rooms) : settleFailure(execution, thrown, rooms)),
      calls: toTrace((await readTrail(id, rooms)).calls),
    };
  });
  if (result.state !== "paused") await rooms.people.withdraw(id);
  const whole = addStats(result, stored);
  await rooms.close(execution, whole);
  return whole;
}

async function goOnWith(
  execution: Opening["execution"],
  { why, signal, onEvent, kept: reopened }: ReviveOptions & { readonly kept: Promise<Kept> },
  rooms: ReviveRooms,
): Promise<ExecutionResult> {
  const { recording, journal } = await reopened;
  const opened = Promise.resolve();
  const { start } = recording;
  const opening: Opening = { execution, opened, durable: () => opened, journal, ...(start && { start }) };
  const request: ExecutionRequest = { ...recording.request, signal, onEvent };
  const patient = { ...rooms, run: inItsTurn({ run: (job) => rooms.run(job), leaving: rooms.leaving }) };
  const { principal, limits: asked } = request;
  const when = why === "restarted" ? why : "again";
  const result = await withinQuotas({ execution: execution.id, principal, limits: asked, when }, rooms.admit, {
    run: async (limits, shortenedBy) =>
      blameQuota(await goOn(opening, { ...request, limits }, { recording, rooms: patient }), limits, shortenedBy),
    wallMsOf: ({ stats }) => stats.wallMs,
  });
  const kept = journal.flush();
  await (result.state === "paused" ? kept : kept.catch(() => undefined));
  return markDryRun(result, request);
}

interface Kept {
  readonly recording: Recording;
  readonly journal: Journal;
}

/** Read once it is ours: whoever had it before may have written on until then. */
async function reopen(stored: StoredExecution, { calls }: Trail, rooms: ReviveRooms): Promise<Kept> {
  const { id, ending } = stored;
  const kept = await rooms.journals.reopen(id);
  if (!kept?.recording.isWhole) throw cannotGoOn("What this execution had been given is not kept any more");
  const [lost] = (ending ? findMissing : findLost)(calls, kept.recording);
  if (lost) throw cannotGoOn(`What ${lost.tool} answered to call ${lost.seq} of this execution is not kept`);
  const open = new Set(calls.flatMap(({ seq, hasEnd }) => (hasEnd ? [] : [seq])));
  // A process can be killed between the journal and the ledger: what the program was given has an end there too.
  for (const { call } of kept.recording.given)
    if (call && open.has(call.record.seq)) await rooms.recordEnd(stored, call.record);
  return kept;
}

async function goOn(
  opening: Opening,
  request: ExecutionRequest,
  { recording, rooms }: { readonly recording: Recording; readonly rooms: ReviveRooms },
): Promise<ExecutionResult> {
  const program = programOf(recording);
  // It never began, so nothing of it happened: it is as if it were asked for now.
  if (!program) return attempt(opening, request, rooms);
  const { principal, signal } = request;
  const { id } = opening.execution;
  const questions = await rooms.people.list({ execution: id });
  const take = (): Promise<CatalogSnapshot> => unlessCancelled(rooms.snapshot(principal), signal);
  const snapshot = await findUnchanged(listKnown(recording, questions), take, signal).catch((thrown: unknown) => {
    throw rooms.leaving.aborted ? notYet() : thrown; // it has not begun again, so it waits on
  });
  await rooms.takeIn(principal, labelsIn(recording, questions));
  const asked = new Map(questions.map((question) => [question.seq, toAskDecision(question)]));
  return runProgram(opening, request, { rooms, snapshot, program, recording, asked });
}

/** What the session had read by then; another process, or this one after a restart, knows nothing of it. */
function labelsIn({ begun, given }: Recording, questions: readonly Approval[]): readonly LabelSource[] {
  const before = begun?.labels ?? [];
  const read = given.findLast(({ call }) => call?.labels)?.call?.labels ?? [];
  return [...before, ...read, ...questions.flatMap(({ labels }) => labels)];
}

/** The question as it was put: whoever goes on is bound by its answer, or waits for it. */
function toAskDecision({ rule, reason }: Approval): AskDecision {
  return { kind: "ask", rule, reason };
}

function cannotGoOn(message: string): GloveboxError {
  return new GloveboxError("REPLAY_DIVERGED", message, {
    hint: "Run the program again from the start; what its calls changed stays changed",
  });
}

/** It waits for its server as it waited for people. */
function putBack(stored: StoredExecution, away: ServerAway, rooms: ReviveRooms): ExecutionResult {
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
