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
} from "../domain/index.ts";

import type { CancellationStore } from "../store/index.ts";
import { callTools } from "./run/call-tools.ts";
import type { CallRequest, Called } from "./run/call-tools.ts";
import type { ExecutionRecord } from "./run/execution-log.ts";
import { createReturns } from "./recover/create-recovery.ts";
import { createEndings } from "./run/shutdown.ts";
import { execute } from "./run/execute.ts";
import type { ExecutionRequest, Rooms } from "./run/execute.ts";
import { followRunning } from "./run/running-table.ts";
import type { Asker, Running } from "./run/running-table.ts";
import { createKeyed } from "./run/keyed.ts";
import type { KeyRooms, KeyedRequest } from "./run/keyed.ts";

import type { BringBackRooms } from "./recover/recover-executions.ts";
import type { BeginRequest, CallToolsRequest, ExecuteRequest, ResumeRequest } from "./requests.ts";
import type { ReviveRooms } from "./resume/resume-execution.ts";
import { findMedia } from "./results/find-media.ts";
import type { Media } from "./results/find-media.ts";
import type { ReadResult, Results } from "./results/create-results.ts";
import type { ResultQuery } from "./results/read-part.ts";
import { resume } from "./history/view-execution.ts";
import type { ResumeRooms } from "./history/view-execution.ts";
import { withinPatience } from "./run/answer-within.ts";

export interface CorridorOptions {
  readonly rooms: Omit<ReviveRooms, "hasEnded" | "leaving" | "store" | "takeIn"> &
    Pick<ExecutionRecord, "claim"> &
    Pick<BringBackRooms, "journals" | "isLasting">;
  readonly store: ResumeRooms["store"] &
    ReviveRooms["store"] &
    BringBackRooms["store"] & { readonly cancellations: Pick<CancellationStore, "list"> };
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

export interface Corridor {
  execute(request: ExecuteRequest): Promise<ExecutionResult>;
  /** As `execute`, but answers `running` once patience is over; from then on `signal` ends nothing. */
  begin(request: BeginRequest): Promise<ExecutionView>;
  callTools(request: CallToolsRequest): Promise<Called>;
  resume(request: ResumeRequest): Promise<ExecutionView>;
  readResult(principal: Principal, handle: string, query: ResultQuery): Promise<ReadResult>;
  findMedia(principal: Principal, value: Json | undefined): Promise<readonly Media[]>;
  /** Ends those that run here and that somebody at another process wants to end. */
  cancelAsked(): Promise<void>;
  /** Brings what earlier processes left open to its end, or goes on with it. */
  recover(): Promise<void>;
  /** Somebody decided about a call of this execution: if it was put away, it goes on. */
  readonly goOn: (execution: ExecutionId) => Promise<void>;
  /** Goes on with it here, if it is put away and somebody has decided; resolves when it has ended or waits again. */
  readonly takeUp: (execution: ExecutionId) => Promise<void>;
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

export function createCorridor(options: CorridorOptions): Corridor {
  const { store, hasEnded, results, limits, now, takeIn, sourcesOf } = options;
  const leaving = new AbortController();
  const rooms = { ...options.rooms, store, hasEnded, takeIn, leaving: leaving.signal };
  const running = followRunning();
  const endings = createEndings();
  const { recover, goOn, takeUp, bringBack } = createReturns({ rooms, running, endings });
  const longestMs = limits.wallMs * 2 + QUEUE_MS;
  const resumeRooms = { ...rooms, running, now, longestMs, bringBack };
  const view: KeyRooms["view"] = (principal, { execution }, signal) =>
    resume({ principal, execution, waitMs: RESUME_MS, signal }, resumeRooms);
  const keyed = createKeyed({ claim: (request, key) => rooms.claim(request, key), view });
  const { run, runCalls } = createRunners(rooms, running, goOn);
  /** Another session may have asked first: its result is given out to this one too. */
  const runKeyed = async (request: KeyedRequest): Promise<ExecutionResult> => {
    const result = await keyed.once(request, run);
    await takeIn(request.principal, result.labels ?? []);
    return result;
  };
  const corridor: Corridor = {
    async execute({ code, limits: wanted = {}, signal = NEVER, idempotencyKey, ...asked }) {
      const tightened = tightenLimits(limits, wanted);
      return endings.guard(signal, (until) => {
        const request = { ...asked, signal: until, source: code, limits: tightened };
        return idempotencyKey === undefined ? run(request) : runKeyed({ ...request, idempotencyKey, wanted });
      });
    },
    async begin({ patienceMs, until, signal = NEVER, onEvent, ...asked }) {
      const patience = { patienceMs, until, signal, onEvent, report: (thrown: unknown) => void rooms.report(thrown) };
      const answer = await withinPatience(patience, (watched) => corridor.execute({ ...asked, ...watched }));
      if (answer.kind === "done") return answer.done;
      return corridor.resume({ principal: asked.principal, execution: answer.execution, waitMs: 0 });
    },
    recover,
    goOn,
    takeUp,
    callTools: ({ signal = NEVER, ...request }) =>
      endings.guard(signal, (until) => runCalls({ ...request, signal: until, limits })),
    async cancelAsked() {
      if (running.isIdle()) return;
      for (const { execution, askedBy } of await store.cancellations.list()) running.cancel(execution, askedBy);
    },
    async resume({ principal, execution, waitMs = RESUME_MS, signal = NEVER }) {
      const view = await resume({ principal: principal.id, execution, waitMs, signal }, resumeRooms);
      await takeIn(principal, view.labels ?? sourcesOf(view.execution));
      return view;
    },
    ...createReaders(results, takeIn),
    stop: () => {
      leaving.abort();
      return endings.end(STOP_MS);
    },
  };
  return corridor;
}

/** Whoever reads what is kept has read what its makers had. */
function createReaders(
  results: Results,
  takeIn: CorridorOptions["takeIn"],
): Pick<Corridor, "readResult" | "findMedia"> {
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
function createRunners(rooms: Rooms, running: Running, goOn: Corridor["goOn"]) {
  return {
    run: async (request: ExecutionRequest): Promise<ExecutionResult> => {
      const result = await running.follow(toAsker(request), {
        run: (followed) => execute({ ...request, ...followed }, rooms),
        resultOf: (whole) => whole,
      });
      if (result.state === "paused") void goOn(result.execution);
      return result;
    },
    runCalls: (request: CallRequest): Promise<Called> =>
      running.follow(toAsker(request), {
        run: (followed) => callTools({ ...request, ...followed }, rooms),
        resultOf: ({ result }) => result,
      }),
  };
}

function toAsker({ principal, signal, onEvent }: Pick<ExecutionRequest, "principal" | "signal" | "onEvent">): Asker {
  return { principal: principal.id, signal, onEvent };
}
