/** Leads one request through the rooms in order. It contains no rule of its own. */

import type { AnalysisResult } from "../../analysis/index.ts";
import type { Bridge, BridgeOptions } from "../../bridge/index.ts";
import { GloveboxError, depthOf } from "../../domain/index.ts";
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
} from "../../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../../sandbox/index.ts";

import type { OpenedExecution } from "./execution-log.ts";
import { withCancelReason } from "./name-cancel.ts";
import type { ResultOwner } from "../results/create-results.ts";
import { runProgram } from "./run-program.ts";
import type { RunDeps } from "./run-program.ts";
import { settleFailure, settleRefusal } from "./settle.ts";
import { attributeToQuota, runWithinQuotas } from "./within-quotas.ts";
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
  /** Reads are made; whatever may change something is answered from its schema and listed. */
  readonly dryRun?: boolean;
  /** Opened already, under a key. */
  readonly opening?: OpenedExecution;
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

/** What a bridge has to do with beside the request: when it ends, whom it asks, and what must be kept first. */
export type BridgeHooks = Pick<BridgeOptions, "signal" | "approve" | "asked" | "journal" | "onCalls">;

/** The rooms this corridor leads through, in the order it visits them. */
export interface ExecutionDeps extends RunDeps {
  open(request: ExecutionRequest): OpenedExecution; // store, audit
  readonly admit: Admit; // policy
  snapshot(principal: Principal): Promise<CatalogSnapshot>; // catalog
  declare(snapshot: CatalogSnapshot): ApiSurface; // typegen
  analyze(request: ExecutionRequest, surface: ApiSurface): AnalysisResult; // analysis
  /** A program that fits, with what was noticed, or the reason why not. It never holds up what it cannot check. */
  check(program: Program, request: ExecutionRequest, snapshot: CatalogSnapshot): Promise<AnalysisResult>; // checker
  bridge(opening: OpenedExecution, snapshot: CatalogSnapshot, request: AnalyzedRequest, passage: BridgeHooks): Bridge; // bridge
  /** Whether the program gets a `fetch` at all. Each request is decided by itself. */
  hasNetwork(request: ExecutionRequest): boolean;
  run(job: SandboxJob): Promise<SandboxResult>; // sandbox
  keepValue(owner: ResultOwner, value: Json): Promise<NonNullable<ExecutionResult["truncated"]>>; // store
  close(execution: Execution, result: ExecutionResult): Promise<void>; // store, audit
}

/** It is opened once and closed once, whatever happens between; a result is only given out after it was recorded. */
export async function execute(request: ExecutionRequest, rooms: ExecutionDeps): Promise<ExecutionResult> {
  const opening = request.opening ?? rooms.open(request);
  const { execution, opened } = opening;
  request.onEvent?.({ kind: "opened", execution: execution.id });
  const unrecorded = new AbortController();
  opened.catch(() => unrecorded.abort());
  const signal = AbortSignal.any([request.signal, unrecorded.signal]);
  const { principal, limits: asked } = request;
  const result = await runWithinQuotas({ execution: execution.id, principal, limits: asked }, rooms.admit, {
    run: async (limits, shortenedBy) =>
      attributeToQuota(await attempt(opening, { ...request, limits, signal }, rooms), limits, shortenedBy),
    wallMsOf: ({ stats }) => stats.wallMs,
  }).catch((thrown: unknown) => settleFailure(execution, thrown, rooms));
  await opened;
  return finish(opening, withCancelReason(markDryRun(result, request), request.signal), rooms);
}

/** Also where nothing ran. */
export function markDryRun(result: ExecutionResult, { dryRun = false }: ExecutionRequest): ExecutionResult {
  return dryRun ? { ...result, dryRun: result.dryRun ?? { writes: [] } } : result;
}

/** What the program saw is kept before it is put away; for one that has ended the journal is of use, but not needed. */
export async function finish(
  { execution, journal }: OpenedExecution,
  result: ExecutionResult,
  rooms: Pick<ExecutionDeps, "close">,
): Promise<ExecutionResult> {
  if (result.state === "paused") await journal.flush();
  await Promise.all([journal.flush().catch(() => undefined), rooms.close(execution, result)]);
  return result;
}

/** From the source to the result. */
export async function attempt(
  opening: OpenedExecution,
  request: ExecutionRequest,
  rooms: ExecutionDeps,
): Promise<ExecutionResult> {
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
