/** Everything that can be asked about executions and kept results, over the rooms that carry them out. */

import { tightenLimits } from "../domain/index.ts";
import type {
  ExecutionId,
  ExecutionResult,
  ExecutionView,
  Instant,
  Json,
  LabelSource,
  Limits,
  Principal,
  ResultQuery,
} from "../domain/index.ts";

import type { Store } from "../store/index.ts";
import { callTools } from "./run/call-tools.ts";
import type { CallRequest, ToolCallsResult } from "./run/call-tools.ts";
import type { ExecutionLog } from "./run/execution-log.ts";
import { createRecovery } from "./recover/create-recovery.ts";
import { createShutdown } from "./run/shutdown.ts";
import { execute } from "./run/execute.ts";
import type { ExecutionRequest, ExecutionDeps } from "./run/execute.ts";
import { createRunningTable } from "./run/running-table.ts";
import type { Asker, RunningTable } from "./run/running-table.ts";
import { createKeyed } from "./run/keyed.ts";
import type { KeyRooms, KeyedRequest } from "./run/keyed.ts";

import type { RecoverAllDeps } from "./recover/recover-executions.ts";
import type { BeginRequest, CallToolsRequest, ExecuteRequest, ViewRequest } from "./requests.ts";
import type { ResumeDeps } from "./resume/resume-execution.ts";
import { findMedia } from "./results/find-media.ts";
import type { Media } from "./results/find-media.ts";
import type { ReadResult, Results } from "./results/create-results.ts";
import { viewExecution } from "./history/view-execution.ts";
import type { ViewDeps } from "./history/view-execution.ts";
import { answerWithin } from "./run/answer-within.ts";

export interface ExecutionsOptions {
  readonly rooms: Omit<ResumeDeps, "hasEnded" | "leaving" | "store" | "takeIn"> &
    Pick<ExecutionLog, "claim"> &
    Pick<RecoverAllDeps, "journals" | "isLasting">;
  readonly store: ViewDeps["store"] &
    ResumeDeps["store"] &
    RecoverAllDeps["store"] & { readonly cancellations: Pick<Store["cancellations"], "list"> };
  /** True when the process of this name has certainly ended. */
  readonly hasEnded: (owner: string) => boolean;
  readonly results: Results;
  /** The most that any request may have. */
  readonly limits: Limits;
  readonly now: () => Instant;
  /** Hears what reaches a client without a call, before it does. */
  readonly takeIn: (principal: Principal, sources: readonly LabelSource[]) => Promise<void>;
  /** What the session of an execution that runs has read. */
  readonly sourcesOf: (execution: ExecutionId) => readonly LabelSource[];
}

export interface Executions {
  execute(request: ExecuteRequest): Promise<ExecutionResult>;
  /** As `execute`, but answers `running` once patience is over; from then on `signal` ends nothing. */
  begin(request: BeginRequest): Promise<ExecutionView>;
  callTools(request: CallToolsRequest): Promise<ToolCallsResult>;
  view(request: ViewRequest): Promise<ExecutionView>;
  readResult(principal: Principal, handle: string, query: ResultQuery): Promise<ReadResult>;
  findMedia(principal: Principal, value: Json | undefined): Promise<readonly Media[]>;
  /** Ends those that run here and that somebody at another process wants to end. */
  cancelRequested(): Promise<void>;
  /** Brings what earlier processes left open to its end, or goes on with it. */
  recover(): Promise<void>;
  /** Somebody decided about a call of this execution: if it was put away, it goes on. */
  readonly resumeIfDecided: (execution: ExecutionId) => Promise<void>;
  /** Goes on with it here, if it is put away and somebody has decided; resolves when it has ended or waits again. */
  readonly resumeNow: (execution: ExecutionId) => Promise<void>;
  /** Every execution under way ends as cancelled, and none begins any more; what was kept can still be read. */
  stop(): Promise<void>;
}

/** How long a client that asks for an execution waits for its end before it hears that it goes on. */
const RESUME_MS = 20_000;
/** How long an execution may have waited for its turn before it counts as lost. */
const QUEUE_MS = 60_000;
const NEVER = new AbortController().signal;
/** How long executions may take to end; a sandbox is killed and a call given up in a fraction of it. */
const STOP_MS = 3_000;

export function createExecutions(options: ExecutionsOptions): Executions {
  const { store, hasEnded, results, limits, now, takeIn, sourcesOf } = options;
  const leaving = new AbortController();
  const rooms = { ...options.rooms, store, hasEnded, takeIn, leaving: leaving.signal };
  const running = createRunningTable();
  const endings = createShutdown();
  const { recoverAll, resumeIfDecided, resumeNow, recoverOne } = createRecovery({ rooms, running, endings });
  const longestMs = limits.wallMs * 2 + QUEUE_MS;
  const resumeRooms = { ...rooms, running, now, longestMs, recoverOne };
  const view: KeyRooms["view"] = (principal, { execution }, signal) =>
    viewExecution({ principal, execution, waitMs: RESUME_MS, signal }, resumeRooms);
  const keyed = createKeyed({ claim: (request, key) => rooms.claim(request, key), view });
  const { run, runCalls } = createRunners(rooms, running, resumeIfDecided);
  /** Another session may have asked first: its result is given out to this one too. */
  const runKeyed = async (request: KeyedRequest): Promise<ExecutionResult> => {
    const result = await keyed.once(request, run);
    await takeIn(request.principal, result.labels ?? []);
    return result;
  };
  const executions: Executions = {
    async execute({ code, limits: wanted = {}, signal = NEVER, idempotencyKey, ...asked }) {
      const tightened = tightenLimits(limits, wanted);
      return endings.track(signal, (until) => {
        const request = { ...asked, signal: until, source: code, limits: tightened };
        return idempotencyKey === undefined ? run(request) : runKeyed({ ...request, idempotencyKey, wanted });
      });
    },
    async begin({ patienceMs, until, signal = NEVER, onEvent, ...asked }) {
      const patience = { patienceMs, until, signal, onEvent, report: (thrown: unknown) => void rooms.report(thrown) };
      const answer = await answerWithin(patience, (watched) => executions.execute({ ...asked, ...watched }));
      if (answer.kind === "done") return answer.done;
      return executions.view({ principal: asked.principal, execution: answer.execution, waitMs: 0 });
    },
    recover: recoverAll,
    resumeIfDecided: resumeIfDecided,
    resumeNow,
    callTools: ({ signal = NEVER, ...request }) =>
      endings.track(signal, (until) => runCalls({ ...request, signal: until, limits })),
    async cancelRequested() {
      if (running.isIdle()) return;
      for (const { execution, askedBy } of await store.cancellations.list()) running.cancel(execution, askedBy);
    },
    async view({ principal, execution, waitMs = RESUME_MS, signal = NEVER }) {
      const view = await viewExecution({ principal: principal.id, execution, waitMs, signal }, resumeRooms);
      await takeIn(principal, view.labels ?? sourcesOf(view.execution));
      return view;
    },
    ...createReaders(results, takeIn),
    stop: () => {
      leaving.abort();
      return endings.end(STOP_MS);
    },
  };
  return executions;
}

/** Whoever reads what is kept has read what its makers had. */
function createReaders(
  results: Results,
  takeIn: ExecutionsOptions["takeIn"],
): Pick<Executions, "readResult" | "findMedia"> {
  return {
    async readResult(principal, handle, query) {
      // First: an error names fields of what is kept, too.
      await takeIn(principal, (await results.summarize(principal.id, handle)).labels);
      return results.read(principal.id, handle, query);
    },
    async findMedia(principal, value) {
      const media = await findMedia(results, principal.id, value);
      for (const { labels } of media) await takeIn(principal, labels);
      return media;
    },
  };
}

/** Whatever runs here is followed; what was decided before it was put away goes on at once. */
function createRunners(rooms: ExecutionDeps, running: RunningTable, resumeIfDecided: Executions["resumeIfDecided"]) {
  return {
    run: async (request: ExecutionRequest): Promise<ExecutionResult> => {
      const result = await running.follow(toAsker(request), {
        run: (followed) => execute({ ...request, ...followed }, rooms),
        resultOf: (whole) => whole,
      });
      if (result.state === "paused") void resumeIfDecided(result.execution);
      return result;
    },
    runCalls: (request: CallRequest): Promise<ToolCallsResult> =>
      running.follow(toAsker(request), {
        run: (followed) => callTools({ ...request, ...followed }, rooms),
        resultOf: ({ result }) => result,
      }),
  };
}

function toAsker({ principal, signal, onEvent }: Pick<ExecutionRequest, "principal" | "signal" | "onEvent">): Asker {
  return { principal: principal.id, signal, onEvent };
}
