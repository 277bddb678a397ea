/** Runs a program that is ready to run, from its start or from where an earlier run of it was put away. */

import type { AskDecision, Bridge } from "../../bridge/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type {
  ApprovalRequests,
  CatalogSnapshot,
  Execution,
  ExecutionResult,
  Json,
  Program,
} from "../../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../../sandbox/index.ts";

import type { OpenedExecution } from "./execution-log.ts";
import type { AnalyzedRequest, ExecutionRequest, BridgeHooks } from "./execute.ts";
import { createTape } from "../journal/create-tape.ts";
import type { JournaledStart, Recording } from "../journal/events.ts";
import type { ResultOwner } from "../results/create-results.ts";
import { keepLarge } from "../results/keep-large.ts";
import { cleanLine, settleResult } from "./settle.ts";
import type { SettleContext } from "./settle.ts";
import { createSuspensionDetector } from "../suspend/detect-suspension.ts";
import { createApprovalWait } from "../suspend/wait-for-approval.ts";

/** What running a program needs of the rooms. */
export interface RunDeps extends SettleContext {
  bridge(opening: OpenedExecution, snapshot: CatalogSnapshot, request: AnalyzedRequest, passage: BridgeHooks): Bridge;
  hasNetwork(request: ExecutionRequest): boolean;
  /** What its program holds in place of secrets, by name: the same for an execution whenever it is asked. */
  tokensOf?(execution: Execution): Readonly<Record<string, string>> | undefined;
  run(job: SandboxJob): Promise<SandboxResult>;
  keepValue(owner: ResultOwner, value: Json): Promise<NonNullable<ExecutionResult["truncated"]>>;
  readonly people: ApprovalRequests;
  /** How long a program itself waits for a person before it is put away. */
  readonly graceMs: number;
  /** Fires when the gateway is about to end. */
  readonly leaving: AbortSignal;
}

export interface ProgramRun {
  readonly rooms: RunDeps;
  readonly snapshot: CatalogSnapshot;
  readonly program: Program;
  /** What an earlier run of it left, and what it had asked people. */
  readonly recording?: Recording;
  readonly asked?: ReadonlyMap<number, AskDecision>;
}

/** One for all: without a reason each end would make an error with a stack of its own, which nobody reads. */
const PROGRAM_ENDED = new GloveboxError("REQUEST_CANCELLED", "The program has ended");

export async function runProgram(
  opening: OpenedExecution,
  request: ExecutionRequest,
  { rooms, snapshot, program, recording, asked }: ProgramRun,
): Promise<ExecutionResult> {
  const { execution, journal } = opening;
  const { principal, limits, input, signal, onEvent } = request;
  const ended = new AbortController();
  const { people, graceMs, leaving } = rooms;
  const canPause = (): boolean => journal.isWhole();
  const suspension = createSuspensionDetector({ graceMs, limits, leaving, ended: ended.signal, canPause });
  const waiting = createApprovalWait({
    people,
    suspension,
    ended: ended.signal,
    labels: () => bridge.labels(),
    plan: () => bridge.plan,
    ...(principal.session !== undefined && { session: principal.session }),
    ...(onEvent && { onEvent }),
  });
  const { onCalls } = suspension;
  const hooks = { signal: ended.signal, approve: waiting.approve, journal, onCalls, ...(asked && { asked }) };
  const bridge = rooms.bridge(opening, snapshot, { ...request, program }, hooks);
  const context = { ...toStartContext(opening, request, rooms), labels: bridge.labels() };
  const started = recording?.started ?? toStartRecord(program, snapshot, context);
  const tape = createTape({
    journal,
    bridge,
    started,
    onStart: suspension.start,
    ...(opening.start && { start: opening.start }),
    ...(recording && { recording }),
  });
  // Calls that nobody waits for any more are given up before the result is written, also when the sandbox breaks.
  const ran = await rooms
    .run({
      program,
      namespaces: started.namespaces,
      limits,
      host: bridge,
      tape,
      suspend: suspension.signal,
      onTimers: suspension.onTimers,
      principal: principal.id,
      signal,
      ...(started.network && { network: true }),
      ...(started.secrets && { secrets: started.secrets }),
      ...(onEvent && { onLog: (line) => onEvent({ kind: "log", line: cleanLine(line, rooms) }) }),
      ...(input !== undefined && { input }),
    })
    .finally(() => ended.abort(PROGRAM_ENDED));
  await bridge.recorded();
  const settled = settleResult(execution, { program, bridge, ran, pending: waiting.pending() }, rooms);
  if (settled.state !== "paused" && waiting.hasAsked()) await people.withdraw(execution.id);
  return keepLarge(settled, limits, (value) =>
    rooms.keepValue({ principal: principal.id, execution: execution.id, labels: bridge.labels() }, value),
  );
}

/** The texts of the source are in the request already, and what servers say of themselves reaches no program. */
function toStartRecord(
  program: Program,
  { namespaces }: CatalogSnapshot,
  surroundings: StartContext,
): Omit<JournaledStart, "start"> {
  const seen = namespaces.map((namespace) => ({ ...namespace, summary: "" }));
  return { program: { ...program, source: "", checkable: "" }, namespaces: seen, ...surroundings };
}

type StartContext = Pick<JournaledStart, "network" | "engine" | "secrets" | "labels">;

function toStartContext({ execution }: OpenedExecution, request: ExecutionRequest, rooms: RunDeps): StartContext {
  const secrets = rooms.tokensOf?.(execution);
  return { engine: rooms.engine, network: rooms.hasNetwork(request), ...(secrets && { secrets }) };
}

/** The program of a recording, as it was before it was kept. */
export function programOf({ request, started }: Recording): Program | undefined {
  return started && { ...started.program, source: request.source, checkable: request.source };
}
