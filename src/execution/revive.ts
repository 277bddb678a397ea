/**
 * Goes on with an execution that was put away or whose process died: the same program in a fresh isolate is given what
 * it was given before, and then goes on from there. No call that was answered is made again.
 */

import { GloveboxError } from "../domain/index.ts";
import type {
  CatalogSnapshot,
  ExecutionEvent,
  ExecutionResult,
  ExecutionStats,
  LabelSource,
  Principal,
} from "../domain/index.ts";
import type { ExecutionStore, LedgerStore, StoredExecution } from "../store/index.ts";

import type { Opening } from "./create-record.ts";
import { attempt, markDryRun, unlessCancelled } from "./execute.ts";
import type { ExecutionRequest, Rooms } from "./execute.ts";
import { findLost, findMissing } from "./find-lost.ts";
import { findUnchanged } from "./find-unchanged.ts";
import type { Recording } from "./journal/events.ts";
import type { Journal, Journals } from "./journal/open-journals.ts";
import { readCalls, toTrace } from "./recover.ts";
import { programOf, runProgram } from "./run-program.ts";
import { settleFailure } from "./settle.ts";

export interface ReviveRooms extends Rooms {
  readonly store: {
    readonly executions: Pick<ExecutionStore, "adopt">;
    readonly ledger: Pick<LedgerStore, "search">;
  };
  readonly journals: Pick<Journals, "reopen">;
  /** The name of this process. */
  readonly owner: string;
  /** Written down before anything of it happens. */
  recordRevival(execution: Opening["execution"], why: Revival): Promise<unknown>; // audit
  /** What its calls brought in before counts for its session again. */
  takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
}

/** Why an execution goes on. */
export type Revival = "decided" | "restarted";

export interface ReviveOptions {
  readonly why: Revival;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ExecutionEvent) => void;
}

/** More than can wait of one principal at a time. */
const MOST_QUESTIONS = 200;

/** `undefined` when somebody else goes on with it, or when it has ended meanwhile. */
export async function revive(
  stored: StoredExecution,
  options: ReviveOptions,
  rooms: ReviveRooms,
): Promise<ExecutionResult | undefined> {
  const { owner } = rooms;
  const { id, principal, source, startedAt, ending } = stored;
  const was = ending ? "paused" : "open";
  if (!(await rooms.store.executions.adopt(id, { was, from: stored.owner, by: owner }))) return undefined;
  const execution = { id, principal, source, startedAt, owner };
  await rooms.recordRevival(execution, options.why);
  options.onEvent({ kind: "opened", execution: id });
  const kept = reopen(stored, rooms);
  const result = await goOnWith(execution, { ...options, kept }, rooms).catch(async (thrown: unknown) => ({
    ...settleFailure(execution, thrown, rooms),
    calls: toTrace(await readCalls(id, rooms)),
  }));
  if (result.state !== "paused") await rooms.people.withdraw(id);
  const whole = addStats(result, stored);
  await rooms.close(execution, whole);
  return whole;
}

async function goOnWith(
  execution: Opening["execution"],
  { signal, onEvent, kept: reopened }: ReviveOptions & { readonly kept: Promise<Kept> },
  rooms: ReviveRooms,
): Promise<ExecutionResult> {
  const { recording, journal } = await reopened;
  const opened = Promise.resolve();
  const opening: Opening = { execution, opened, durable: () => opened, journal };
  const request: ExecutionRequest = { ...recording.request, signal, onEvent };
  const result = await goOn(opening, request, { recording, rooms });
  const kept = journal.flush();
  await (result.state === "paused" ? kept : kept.catch(() => undefined));
  return markDryRun(result, request);
}

interface Kept {
  readonly recording: Recording;
  readonly journal: Journal;
}

/** Read once it is ours: whoever had it before may have written on until then. */
async function reopen({ id, ending }: StoredExecution, rooms: ReviveRooms): Promise<Kept> {
  const kept = await rooms.journals.reopen(id);
  if (!kept?.recording.isWhole) throw cannotGoOn("What this execution had been given is not kept any more");
  const [lost] = await (ending ? findMissing : findLost)(id, kept.recording, rooms);
  if (lost) throw cannotGoOn(`What ${lost.tool} answered to call ${lost.seq} of this execution is not kept`);
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
  const questions = await rooms.people.list({ execution: id, limit: MOST_QUESTIONS });
  const used = recording.given.flatMap(({ call }) => (call ? [{ ...call.record, definition: call.definition }] : []));
  const take = (): Promise<CatalogSnapshot> => unlessCancelled(rooms.snapshot(principal), signal);
  const snapshot = await findUnchanged([...used, ...questions], take, signal);
  await rooms.takeIn(principal, recording.given.findLast(({ call }) => call?.labels)?.call?.labels ?? []);
  return runProgram(opening, request, { rooms, snapshot, program, recording });
}

function cannotGoOn(message: string): GloveboxError {
  return new GloveboxError("REPLAY_DIVERGED", message, {
    hint: "Run the program again from the start; what its calls changed stays changed",
  });
}

/** What it used before it was put away counts too. */
function addStats(result: ExecutionResult, { ending }: StoredExecution): ExecutionResult {
  const before = ending ? parseStats(ending.result) : undefined;
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

/** Written by `createRecord`. */
function parseStats(text: string): ExecutionStats {
  return (JSON.parse(text) as ExecutionResult).stats;
}
