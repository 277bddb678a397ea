/** Everything that surfaces can do with executions and kept results, for as long as a gateway is open. */

import { planCalls } from "../analysis/index.ts";
import type {
  CallPlan,
  ExecutionId,
  ExecutionResult,
  ExecutionView,
  Finding,
  Json,
  Principal,
  PublicError,
  ResultQuery,
} from "../domain/index.ts";
import { MINUTE_MS, NEVER, SECOND_MS, pollEvery } from "../timing/index.ts";

import type { ExecutionDeps } from "./deps.ts";
import { viewExecution } from "./history/view-execution.ts";
import type { KeptResultPart } from "./kept-results.ts";
import { createLateEnds } from "./late-ends.ts";
import { endInvalid, endRequested } from "./recover/end-invalid.ts";
import { createRecovery } from "./recover/recover-executions.ts";
import { retryWhileBusy } from "./recover/wait-to-resume.ts";
import type { CallToolsRequest, ExecuteInput, ExecutionRequest, ViewRequest } from "./requests.ts";
import { findMedia } from "./results/find-media.ts";
import type { Media } from "./results/find-media.ts";
import { createProgramRunner } from "./run-program.ts";
import { createAdmissionDesk } from "./run/admit-request.ts";
import type { Admission, AdmissionDesk } from "./run/admit-request.ts";
import { analyzeProgram, createRecheck } from "./run/analyze-program.ts";
import { callTools, toCallSource } from "./run/call-tools.ts";
import type { ToolCallsResult } from "./run/call-tools.ts";
import { attempt, startExecution } from "./run/execute.ts";
import type { RunDeps } from "./run/execute.ts";
import { createIdempotency } from "./run/idempotency.ts";
import type { IdempotentRequest } from "./run/idempotency.ts";
import { parseTextInput } from "./run/parse-input.ts";
import { tightenLimits } from "./run/tighten-limits.ts";
import { createRunningTable } from "./running-table.ts";
import { MOST_STILL_MS } from "./suspend/detect-suspension.ts";
import type { ClientPatience, RunningTable, StartedExecution } from "./running-table.ts";

/** An execution that was opened by this request, or by an earlier one with the same key. */
export interface OpenExecution extends StartedExecution {
  /** Cancels the execution, or the wait for one that another request opened. */
  cancel(reason?: unknown): void;
  /** Returns the result, or a view with state `running` after the client's patience; then nothing the client does cancels it. */
  answer(patience: ClientPatience): Promise<ExecutionView>;
}

/** What a program can call, without running it; or why it cannot run. */
export type ProgramPlan =
  | { readonly ok: true; readonly plan: CallPlan; readonly findings: readonly Finding[] }
  | { readonly ok: false; readonly error: PublicError; readonly findings: readonly Finding[] };

/** Disposing stops the background work and then every execution. */
export interface OpenedExecutions extends AsyncDisposable {
  /** Opens and starts an execution. Resolves once it has an id; rejects for an invalid request. */
  open(input: ExecuteInput): Promise<OpenExecution>;
  /** Opens an execution and waits for its result. Rejects for an invalid request, or when it cannot be recorded. */
  execute(input: ExecuteInput): Promise<ExecutionResult>;
  callTools(request: CallToolsRequest): Promise<ToolCallsResult>;
  /** Analyzes a program only. Nothing runs and nothing is recorded. */
  plan(input: ExecuteInput): Promise<ProgramPlan>;
  /** Rejects with REQUEST_NOT_FOUND for an unknown execution or another principal's. */
  view(request: ViewRequest): Promise<ExecutionView>;
  readResult(principal: Principal, handle: string, query: ResultQuery): Promise<KeptResultPart>;
  findMedia(principal: Principal, value: Json | undefined): Promise<readonly Media[]>;
  /** Resumes it here if a decision was made; resolves when it has ended or is suspended again. */
  readonly resumeNow: (execution: ExecutionId) => Promise<void>;
  /** Cancels all running executions and refuses new ones; kept results stay readable. */
  stop(): Promise<void>;
}

export interface BackgroundOptions {
  readonly everyMs: number;
  readonly quotas: {
    /** Called at every poll, to keep the quotas of running executions. */
    noteHeld(): Promise<void>;
  };
  readonly approvals: {
    /** Calls the listener after every decision about an approval. Returns a function to stop. */
    onDecided(listener: (decided: { readonly execution: ExecutionId }) => void): () => void;
  };
}

/** How long a view waits for a running execution by default. */
const VIEW_MS = 20 * SECOND_MS;
/** How long an execution may queue before it counts as lost. */
const QUEUE_MS = MINUTE_MS;
/** How long executions may take to end at shutdown; killing a sandbox or giving up a call takes a fraction of it. */
const STOP_MS = 3 * SECOND_MS;

/** Recovers what earlier processes left, polls for cancellations, and resumes executions after decisions. */
export function openExecutions(
  given: ExecutionDeps,
  { everyMs, quotas, approvals }: BackgroundOptions,
): OpenedExecutions {
  const closing = new AbortController();
  const { signal: leaving } = closing;
  const onSuspended = (id: ExecutionId): void => void recovery.resumeIfDecided(id);
  const lateEnds = createLateEnds({ ...given, leaving, onSuspended });
  const deps = { ...given, log: lateEnds.log };
  const runningDeps = { ...deps, leaving };
  const running = createRunningTable(deps.hide);
  const recovery = openRecovery(runningDeps, running);
  const { recoverOne, resumeIfDecided, resumeNow } = recovery;
  const viewDeps = { ...deps, running, recoverOne, longestMs: deps.limits.wallMs * 2 + QUEUE_MS + MOST_STILL_MS };

  const view: OpenedExecutions["view"] = async ({ principal, execution, waitMs = VIEW_MS, signal = NEVER }) => {
    const found = await viewExecution({ principal: principal.id, execution, waitMs, signal }, viewDeps);
    await deps.labelSession(principal, found.labels ?? deps.sourcesOf(found.execution));
    return found;
  };
  const openOnce = createIdempotency({
    log: deps.log,
    findHolder: (principal, key) => deps.store.executions.findHolder(principal, key),
    view: (principal, { execution }, signal) =>
      viewExecution({ principal, execution, waitMs: VIEW_MS, signal }, viewDeps),
  });
  const desk = createAdmissionDesk(deps);
  const runDeps = { ...deps, runProgram: createProgramRunner({ ...runningDeps, run: desk.run }) };
  const open = createOpen(runDeps, { running, desk, openOnce, resumeIfDecided, view });
  const end = async (): Promise<void> => {
    // A short-lived process resumes nothing, so it has nothing to look for while it runs nothing.
    if (running.isIdle() && !deps.isLasting) return;
    await endRequested(running, { ...deps, resumeInvalid: (id) => recovery.resumeInvalid(id) });
    await endInvalid(running, deps);
  };
  const polling = pollEvery(everyMs, async () => void (await Promise.all([end(), quotas.noteHeld()])));
  const recovered = recovery.recoverAll().catch((thrown: unknown) => void deps.report(thrown));
  const stopListening = approvals.onDecided(({ execution }) => void resumeIfDecided(execution));
  const stop = (): Promise<void> => {
    closing.abort();
    return running.close(STOP_MS);
  };
  return {
    open,
    execute: async (input) => (await open(input)).done,
    callTools: (request) => runPlainCalls(request, { running, desk }, deps),
    plan: (input) => planProgram(deps, input),
    view,
    ...createReaders(deps),
    resumeNow,
    stop,
    async [Symbol.asyncDispose]() {
      stopListening();
      await polling[Symbol.asyncDispose]();
      await stop();
      await lateEnds[Symbol.asyncDispose]();
      await recovered; // so that even a short command closes lost executions
    },
  };
}

/** Resumed programs wait for a free sandbox, because no client is there to retry. */
function openRecovery(deps: ExecutionDeps & { readonly leaving: AbortSignal }, running: RunningTable) {
  const runProgram = createProgramRunner({ ...deps, run: retryWhileBusy(deps) });
  const resumeDeps = { ...deps, runProgram, checkAgain: createRecheck(deps) };
  return createRecovery(
    { ...resumeDeps, attempt: (opening, request) => attempt(opening, request, resumeDeps) },
    running,
  );
}

interface OpenParts extends Pick<OpenedExecutions, "view"> {
  readonly running: RunningTable;
  readonly desk: AdmissionDesk;
  readonly openOnce: ReturnType<typeof createIdempotency>;
  readonly resumeIfDecided: (execution: ExecutionId) => Promise<void>;
}

/** Opening and running are two steps: the id is known before the program starts. */
function createOpen(
  deps: ExecutionDeps & Pick<RunDeps, "runProgram">,
  { running, desk, openOnce, resumeIfDecided, view }: OpenParts,
): OpenedExecutions["open"] {
  return async (input) => {
    const { idempotencyKey: key, limits: wanted = {}, signal, onEvent, ...rest } = parseTextInput(input, deps.limits);
    const limits = tightenLimits(deps.limits, wanted);
    const { principal } = input;
    const entry = running.enter({ principal: principal.id, signal, onEvent });
    const own = { signal: entry.signal, onEvent: entry.onEvent, inputs: entry.inputs };
    const request: ExecutionRequest = { ...rest, limits, ...own };
    const admit = (): Promise<Admission> => desk.admit(request, true);
    const start: IdempotentRequest["start"] = (opening, admission) => {
      const started = startExecution(entry, opening, request, { ...deps, admit: admission.admit });
      const resumeIfPaused = ({ state }: ExecutionResult): void =>
        void (state === "paused" && resumeIfDecided(started.id));
      started.done.then(resumeIfPaused, () => undefined);
      return started;
    };
    const openNew = async (): Promise<StartedExecution> => {
      const admission = await admit();
      if (admission.ok) return start(deps.log.open(request, admission.id), admission);
      return { id: admission.result.execution, done: Promise.resolve(admission.result) };
    };
    const leave = (): void => {
      desk.leave(entry.signal);
      entry.leave();
    };
    try {
      const started = key === undefined ? await openNew() : await openOnce({ request, key, wanted, admit, start });
      const done = key === undefined ? started.done : labelAfter(started.done, principal, deps);
      done.then(leave, leave);
      return {
        get id() {
          return started.id;
        },
        done,
        cancel: entry.cancel,
        answer: async (patience) =>
          (await entry.answerWithin({ done }, patience, (thrown) => void deps.report(thrown))) ??
          view({ principal, execution: started.id, waitMs: 0 }),
      };
    } catch (thrown) {
      leave();
      throw thrown;
    }
  };
}

/** Another session may have opened it under the same key: its result reaches this one, too. */
async function labelAfter(
  done: Promise<ExecutionResult>,
  principal: Principal,
  { labelSession }: Pick<ExecutionDeps, "labelSession">,
): Promise<ExecutionResult> {
  const result = await done;
  await labelSession(principal, result.labels ?? []);
  return result;
}

async function runPlainCalls(
  { calls, signal, onEvent, ...rest }: CallToolsRequest,
  { running, desk }: Pick<OpenParts, "running" | "desk">,
  deps: ExecutionDeps,
): Promise<ToolCallsResult> {
  const entry = running.enter({ principal: rest.principal.id, signal, onEvent });
  const own = { signal: entry.signal, onEvent: entry.onEvent };
  const request: ExecutionRequest = { ...rest, ...own, source: toCallSource(calls), limits: deps.limits };
  try {
    const admission = await desk.admit(request, false);
    if (!admission.ok) return { result: admission.result, replies: [] };
    const opening = deps.log.open(request, admission.id);
    let replies: ToolCallsResult["replies"] = [];
    const result = await entry.start(opening.execution.id, async () => {
      const called = await callTools(opening, { ...request, calls }, { ...deps, admit: admission.admit });
      ({ replies } = called);
      return called.result;
    });
    return { result, replies };
  } finally {
    entry.leave();
  }
}

async function planProgram(
  deps: Pick<ExecutionDeps, "analyze" | "declare" | "limits" | "snapshot">,
  { limits: wanted = {}, signal = NEVER, ...request }: ExecuteInput,
): Promise<ProgramPlan> {
  const limits = tightenLimits(deps.limits, wanted);
  const { analyzed, snapshot } = await analyzeProgram({ ...request, signal, limits }, deps);
  if (!analyzed.ok) return analyzed;
  const { calls, findings } = analyzed.program;
  return { ok: true, plan: planCalls(calls, snapshot), findings };
}

/** A session that reads a kept result has read what the session that made it had. */
function createReaders({
  results,
  labelSession,
}: Pick<ExecutionDeps, "results" | "labelSession">): Pick<OpenedExecutions, "readResult" | "findMedia"> {
  return {
    async readResult(principal, handle, query) {
      // First, because an error names fields of the result.
      await labelSession(principal, (await results.summarize(principal.id, handle)).labels);
      return results.read(principal.id, handle, query);
    },
    async findMedia(principal, value) {
      const media = await findMedia(results, principal.id, value);
      for (const { labels } of media) await labelSession(principal, labels);
      return media;
    },
  };
}
