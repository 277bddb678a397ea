/**
 * Goes on with an execution that was put away or whose process died: the same program in a fresh isolate is given what
 * it was given before, and then goes on from there. No call that was answered is made again.
 */

import { GloveboxError } from "../domain/index.ts";
import type {
  CatalogSnapshot,
  Digest,
  ExecutionEvent,
  ExecutionResult,
  ExecutionStats,
  LabelSource,
  Principal,
  ToolAddress,
} from "../domain/index.ts";
import type { ExecutionStore, StoredExecution } from "../store/index.ts";

import type { Opening } from "./create-record.ts";
import { attempt, finish, markDryRun, unlessCancelled } from "./execute.ts";
import type { ExecutionRequest, Rooms } from "./execute.ts";
import type { Recording } from "./journal/events.ts";
import type { Journals } from "./journal/open-journals.ts";
import { programOf, runProgram } from "./run-program.ts";
import { settleFailure } from "./settle.ts";

export interface ReviveRooms extends Rooms {
  readonly store: { readonly executions: Pick<ExecutionStore, "adopt"> };
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

/** `undefined` when somebody else goes on with it, or when it has ended meanwhile. */
export async function revive(
  stored: StoredExecution,
  options: ReviveOptions,
  rooms: ReviveRooms,
): Promise<ExecutionResult | undefined> {
  const kept = await rooms.journals.reopen(stored.id);
  const { owner } = rooms;
  // Somebody who reads the journal first and is slower than somebody else goes on with nothing.
  if (!(await rooms.store.executions.adopt(stored.id, { from: stored.owner, by: owner }))) return undefined;
  const { id, principal, source, startedAt } = stored;
  const execution = { id, principal, source, startedAt, owner };
  await rooms.recordRevival(execution, options.why);
  options.onEvent({ kind: "opened", execution: id });
  if (!kept?.recording.isWhole) return giveUp(execution, rooms);
  const isOpen = Promise.resolve();
  const opening: Opening = { execution, opened: isOpen, durable: () => isOpen, journal: kept.journal };
  const { signal, onEvent } = options;
  const request: ExecutionRequest = { ...kept.recording.request, signal, onEvent };
  const result = await goOn(opening, request, { recording: kept.recording, rooms }).catch((thrown: unknown) =>
    settleFailure(execution, thrown, rooms),
  );
  if (result.state !== "paused") await rooms.people.withdraw(id);
  return finish(opening, markDryRun(addStats(result, stored), request), rooms);
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
  const snapshot = await unlessCancelled(rooms.snapshot(principal), signal);
  for (const { call } of recording.given) if (call) refuseChanged(snapshot, call.record, call.definition);
  const { id } = opening.execution;
  for (const asked of await rooms.people.list({ execution: id })) refuseChanged(snapshot, asked, asked.definition);
  await rooms.takeIn(principal, recording.given.findLast(({ call }) => call?.labels)?.call?.labels ?? []);
  return runProgram(opening, request, { rooms, snapshot, program, recording });
}

/** Whoever approved a call, or wrote the program, knew another tool by this name. */
function refuseChanged(
  snapshot: CatalogSnapshot,
  { tool, seq }: { readonly tool: string; readonly seq: number },
  definition: Digest | undefined,
): void {
  if (definition === undefined || tool.startsWith("glovebox.")) return;
  const address = tool as ToolAddress;
  const now = (snapshot.tools.get(address) ?? snapshot.hidden?.get(address))?.digest;
  if (now === definition) return;
  const what = now === undefined ? "is not offered any more" : "has another definition now";
  throw new GloveboxError("REPLAY_DIVERGED", `${tool}, which call ${seq} used, ${what}`, {
    hint: "Look at it with `glovebox servers`, and run the program again from the start",
  });
}

/** Its journal was let go, or had become too large to be kept. */
async function giveUp(execution: Opening["execution"], rooms: ReviveRooms): Promise<ExecutionResult> {
  const error = new GloveboxError("REPLAY_DIVERGED", "What this execution had been given is not kept any more", {
    hint: "Run the program again from the start; what its calls changed stays changed",
  });
  const result = settleFailure(execution, error, rooms);
  await rooms.people.withdraw(execution.id);
  await rooms.close(execution, result);
  return result;
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
