/** Leads one request through the rooms in order. It contains no rule of its own. */

import type { Analyzed } from "../analysis/index.ts";
import type { Bridge } from "../bridge/index.ts";
import { GloveboxError, depthOf } from "../domain/index.ts";
import type {
  ApiSurface,
  CatalogSnapshot,
  Execution,
  ExecutionEvent,
  ExecutionResult,
  Json,
  Limits,
  NetworkPolicy,
  Principal,
  Program,
  TraceContext,
  Truncation,
} from "../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../sandbox/index.ts";

import type { Opening } from "./create-record.ts";
import { keepLarge } from "./results/keep-large.ts";
import type { ResultOwner } from "./results/create-results.ts";
import { cleanLine, settleFailure, settleRefusal, settleResult } from "./settle.ts";
import type { SettleContext } from "./settle.ts";
import { blameQuota, withinQuotas } from "./within-quotas.ts";
import type { Admit } from "./within-quotas.ts";

export interface ExecutionRequest {
  readonly principal: Principal;
  readonly source: string;
  readonly limits: Limits;
  readonly input?: Json;
  /** Off only when an operator says so on the command line. */
  readonly analysis?: boolean;
  /** Likewise, for the type check alone. */
  readonly types?: boolean;
  /** Opened already, under a key. */
  readonly opening?: Opening;
  /** Where its program may send requests at most; the operator's policy holds besides. */
  readonly networkPolicy?: NetworkPolicy;
  readonly signal: AbortSignal;
  /** The client's own trace, if it has one. */
  readonly trace?: TraceContext;
  /** Hears what goes on while it runs. Must not throw. */
  readonly onEvent?: (event: ExecutionEvent) => void;
}

/** A request together with what its source turned out to be; without a program it is a plain call of a tool. */
export interface AnalyzedRequest extends ExecutionRequest {
  readonly program?: Program;
}

/** The rooms this corridor leads through, in the order it visits them. */
export interface Rooms extends SettleContext {
  open(request: ExecutionRequest): Opening; // store, audit
  readonly admit: Admit; // policy
  snapshot(principal: Principal): Promise<CatalogSnapshot>; // catalog
  declare(snapshot: CatalogSnapshot): ApiSurface; // typegen
  analyze(request: ExecutionRequest, surface: ApiSurface): Analyzed; // analysis
  /** A program that fits, with what was noticed, or the reason why not. It never holds up what it cannot check. */
  check(program: Program, request: ExecutionRequest, snapshot: CatalogSnapshot): Promise<Analyzed>; // checker
  bridge(opening: Opening, snapshot: CatalogSnapshot, request: AnalyzedRequest, signal: AbortSignal): Bridge; // bridge
  /** Whether the program gets a `fetch` at all. Each request is decided by itself. */
  hasNetwork(request: ExecutionRequest): boolean;
  run(job: SandboxJob): Promise<SandboxResult>; // sandbox
  keepValue(owner: ResultOwner, value: Json): Promise<Truncation>; // store
  close(execution: Execution, result: ExecutionResult): Promise<void>; // store, audit
}

/** It is opened once and closed once, whatever happens between; a result is only given out after it was recorded. */
export async function execute(request: ExecutionRequest, rooms: Rooms): Promise<ExecutionResult> {
  const opening = request.opening ?? rooms.open(request);
  const { execution, opened } = opening;
  request.onEvent?.({ kind: "opened", execution: execution.id });
  const unrecorded = new AbortController();
  opened.catch(() => unrecorded.abort());
  const signal = AbortSignal.any([request.signal, unrecorded.signal]);
  const result = await withinQuotas(request, rooms.admit, {
    run: async (limits, shortenedBy) =>
      blameQuota(await attempt(opening, { ...request, limits, signal }, rooms), limits, shortenedBy),
    wallMsOf: ({ stats }) => stats.wallMs,
  }).catch((thrown: unknown) => settleFailure(execution, thrown, rooms));
  await opened;
  await rooms.close(execution, result);
  return result;
}

async function attempt(opening: Opening, request: ExecutionRequest, rooms: Rooms): Promise<ExecutionResult> {
  refuseDeepInput(request);
  const snapshot = await unlessCancelled(rooms.snapshot(request.principal), request.signal);
  const surface = rooms.declare(snapshot);
  const analyzed = rooms.analyze(request, surface);
  if (!analyzed.ok) return settleRefusal(opening.execution, analyzed, rooms);
  const checked = await unlessCancelled(rooms.check(analyzed.program, request, snapshot), request.signal);
  if (!checked.ok) return settleRefusal(opening.execution, checked, rooms);
  return runProgram(opening, request, { rooms, snapshot, program: checked.program });
}

/** Deeper input could not be written as text, and no program may return anything that deep either. */
function refuseDeepInput({ input, limits }: ExecutionRequest): void {
  if (input === undefined || depthOf(input, limits.depth) <= limits.depth) return;
  throw new GloveboxError("LIMIT_SIZE", `The input nests deeper than its limit of ${limits.depth} levels (depth)`, {
    hint: "Send a flatter value",
  });
}

/** An upstream that does not answer holds the snapshot up; whoever cancels need not wait for it. */
export async function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const cancelled = Promise.withResolvers<never>();
  const cancel = (): void => cancelled.reject(new GloveboxError("REQUEST_CANCELLED", "The execution was cancelled"));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await Promise.race([work, cancelled.promise]);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

async function runProgram(
  opening: Opening,
  request: ExecutionRequest,
  { rooms, snapshot, program }: { rooms: Rooms; snapshot: CatalogSnapshot; program: Program },
): Promise<ExecutionResult> {
  const ended = new AbortController();
  const bridge = rooms.bridge(opening, snapshot, { ...request, program }, ended.signal);
  const { principal, limits, input, signal, onEvent } = request;
  // Calls that nobody waits for any more are given up before the result is written, also when the sandbox breaks.
  const ran = await rooms
    .run({
      program,
      namespaces: snapshot.namespaces,
      limits,
      host: bridge,
      principal: principal.id,
      signal,
      ...(rooms.hasNetwork(request) && { network: true }),
      ...(onEvent && { onLog: (line) => onEvent({ kind: "log", line: cleanLine(line, rooms) }) }),
      ...(input !== undefined && { input }),
    })
    .finally(() => ended.abort());
  await bridge.recorded();
  const { execution } = opening;
  const settled = settleResult(execution, { program, bridge, ran }, rooms);
  return keepLarge(settled, limits, (value) =>
    rooms.keepValue({ principal: principal.id, execution: execution.id, labels: bridge.labels() }, value),
  );
}
