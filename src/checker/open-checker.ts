/**
 * Checks programs against the generated API. The check helps authors and is not a security boundary: a program that
 * cannot be checked runs, with a warning.
 *
 * All sessions share one process, which starts on demand and ends when it is idle. A program can keep it busy, so a check
 * that is slow while another session waits moves to a second process, together with the process that it occupies. Later
 * programs of its session are checked there, too. A process that a program ended is replaced at once.
 */

import type { ApiSurface, ChildKeeper, Instant } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { MINUTE_MS, backoffMs, createFairQueue, createRecent, ownerOf } from "../timing/index.ts";
import type { QueueItem } from "../timing/index.ts";
import { CheckerWorker, nameApi } from "./checker-worker.ts";
import type { WorkerOptions, WorkerReply } from "./checker-worker.ts";
import { createSessionRecords, nameSession } from "./session-records.ts";
import type { CheckOwner, SessionRecords } from "./session-records.ts";
import { CHILD } from "./start-process.ts";
import type { Mistake } from "./wire.ts";

interface CheckerLimits extends Pick<WorkerOptions, "memoryBytes" | "prepareMs"> {
  readonly checkMs: number;
  /** A check that takes longer is slow: it must not hold up other sessions. */
  readonly slowMs: number;
  /** After a process that could not be prepared. Doubles with every failure in a row. */
  readonly backoffMs: number;
  /** How long a process stays without work. */
  readonly idleMs: number;
}

export interface CheckerOptions {
  /** The executable that runs the checker's process: the gateway's own. */
  readonly node: string;
  readonly keeper: ChildKeeper;
  readonly now: () => Instant;
  /** Resident bytes of a process and its children; `undefined` where the platform does not tell. */
  readonly measure: (pid: number) => number | undefined;
  /** Tests make these smaller. */
  readonly limits?: Partial<CheckerLimits>;
  /** The code of the process; tests pass their own. */
  readonly script?: string;
}

/** The author's TypeScript: offsets count in it. */
export interface CheckRequest {
  readonly text: string;
  readonly surface: ApiSurface;
  readonly principal: CheckOwner;
}

/** `reason` is written for the author of the program. */
export type CheckResult =
  | { readonly kind: "checked"; readonly mistakes: readonly Mistake[] }
  | { readonly kind: "unchecked"; readonly reason: string };

export interface Checker extends AsyncDisposable {
  check(request: CheckRequest): Promise<CheckResult>;
  /** The result of an earlier check of the same text against the same tools. */
  recall(request: Omit<CheckRequest, "principal">): CheckResult | undefined;
  stats(): {
    /** Programs that reached a process; programs that the cache answered are not counted. */
    readonly asked: number;
    /** How often a process was started. */
    readonly starts: number;
    /** The pid of the shared process, or 0 while there is none. */
    readonly pid: number;
    /** The pid of the second process, or 0 while there is none. */
    readonly secondPid: number;
  };
}

/** Preparing takes a third of a second, or seconds on a busy machine; a check takes milliseconds. */
const LIMITS: CheckerLimits = {
  prepareMs: 15_000,
  checkMs: 2_000,
  slowMs: 250,
  memoryBytes: 512 * 1024 * 1024,
  backoffMs: 500,
  idleMs: 5 * MINUTE_MS,
};
const KEPT_RESULTS = 256;

const TOO_LONG = "The types were not checked: the check took too long";
const BROKEN = "The types were not checked: the checker ended and will be started again";
const WAITING = "The types were not checked: the checker failed a moment ago and is not started again yet";

/** Starts nothing; the first check does. */
export function openChecker(options: CheckerOptions): Checker {
  return new ProcessChecker(options);
}

/** A check that waits or runs. */
interface CheckJob extends CheckRequest, QueueItem {
  readonly key: string;
  readonly settle: (result: CheckResult) => void;
}

/** A process and the checks that wait for it. */
class CheckLane {
  readonly waiting = createFairQueue<CheckJob>();
  worker: CheckerWorker | undefined;
  run: CheckRun | undefined;
  /** Processes in a row that could not be prepared. */
  failures = 0;
  notBefore: Instant = 0;
  /** Ends its process when it was idle for long. */
  idle: NodeJS.Timeout | undefined;
}

interface CheckRun {
  readonly job: CheckJob;
  readonly worker: CheckerWorker;
  /** Changes when the run moves to the second process. */
  lane: CheckLane;
  /** True while it is slow and can be moved or stopped. */
  isSlow: boolean;
  /** True if it was stopped before its time, because others wait. */
  isStopped: boolean;
  /** Ends the check as late. */
  readonly late: PromiseWithResolvers<CheckOutcome>;
}

/** `unprepared` means that the process failed before it got the program. */
type CheckOutcome = WorkerReply | { readonly kind: "late" | "unprepared" };

class ProcessChecker implements Checker {
  readonly #options: CheckerOptions;
  readonly #limits: CheckerLimits;
  readonly #sessions: SessionRecords;
  readonly #results = createRecent<string, CheckResult>(KEPT_RESULTS);
  readonly #shared = new CheckLane();
  readonly #second = new CheckLane();
  /** All processes that may be alive. */
  readonly #workers = new Set<CheckerWorker>();
  #isClosed = false;
  #asked = 0;
  #starts = 0;

  constructor(options: CheckerOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#sessions = createSessionRecords(options.now);
  }

  stats(): ReturnType<Checker["stats"]> {
    const pids = { pid: this.#shared.worker?.pid ?? 0, secondPid: this.#second.worker?.pid ?? 0 };
    return { asked: this.#asked, starts: this.#starts, ...pids };
  }

  recall(request: Omit<CheckRequest, "principal">): CheckResult | undefined {
    return this.#results.get(keyOf(request));
  }

  async check(request: CheckRequest): Promise<CheckResult> {
    const key = keyOf(request);
    const known = this.#results.get(key);
    if (known) return known;
    const { promise, resolve } = Promise.withResolvers<CheckResult>();
    this.#add({ ...request, owner: ownerOf(request.principal), key, settle: resolve });
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const lane of [this.#shared, this.#second]) clearTimeout(lane.idle);
    await Promise.all([...this.#workers].map((worker) => worker.kill()));
  }

  #add(job: CheckJob): void {
    const lane = this.#sessions.isApart(job.principal) ? this.#second : this.#shared;
    lane.waiting.add(job);
    if (lane.run) this.#relieve(lane);
    else this.#serve(lane);
  }

  /** Starts the next check of a lane whose process is free. */
  #serve(lane: CheckLane): void {
    while (!lane.run) {
      const job = lane.waiting.take();
      if (!job) break;
      const isApart = this.#sessions.isApart(job.principal);
      const known = this.#results.get(job.key);
      if (known) job.settle(known);
      else if (isApart !== (lane === this.#second)) this.#add(job);
      else this.#start(lane, job);
    }
    for (const one of [this.#shared, this.#second]) if (one.run) clearTimeout(one.idle);
    if (!lane.run) this.#endWhenIdle(lane);
  }

  #start(lane: CheckLane, job: CheckJob): void {
    const worker = this.#findWorker(lane);
    if (!worker) return job.settle({ kind: "unchecked", reason: WAITING });
    const late = Promise.withResolvers<CheckOutcome>();
    const run: CheckRun = { job, worker, lane, isSlow: false, isStopped: false, late };
    lane.run = run;
    void this.#ask(run).then((outcome) => this.#finish(run, outcome));
  }

  #findWorker(lane: CheckLane): CheckerWorker | undefined {
    if (lane.worker && lane.worker.pid !== 0) return lane.worker;
    if (lane.worker) this.#workers.delete(lane.worker);
    lane.worker = undefined;
    if (this.#isClosed || this.#options.now() < lane.notBefore) return undefined;
    this.#starts += 1;
    lane.worker = new CheckerWorker({ ...this.#options, ...this.#limits, script: this.#options.script ?? CHILD });
    this.#workers.add(lane.worker);
    return lane.worker;
  }

  async #ask(run: CheckRun): Promise<CheckOutcome> {
    const { worker, job } = run;
    for (let tries = 0; tries < 2; tries += 1) {
      if (!(await worker.prepare(job.surface))) return { kind: "unprepared" };
      const outcome = await this.#askInTime(run);
      if (outcome.kind !== "unknownApi") return outcome;
    }
    return { kind: "gone" };
  }

  async #askInTime(run: CheckRun): Promise<CheckOutcome> {
    const { worker, job, late } = run;
    this.#asked += 1;
    const slow = setTimeout(() => {
      run.isSlow = true;
      this.#relieve(run.lane);
    }, this.#limits.slowMs);
    const end = setTimeout(() => late.resolve({ kind: "late" }), this.#limits.checkMs);
    const outcome = await Promise.race([worker.check(job.surface, job.text), late.promise]);
    clearTimeout(slow);
    clearTimeout(end);
    run.isSlow = false;
    return outcome;
  }

  /** Called when a check of a lane becomes slow, and when another one begins to wait. */
  #relieve(lane: CheckLane): void {
    const { run } = lane;
    if (!run?.isSlow) return;
    const { principal } = run.job;
    const waiting = lane.waiting.items();
    if (lane === this.#second) {
      run.isStopped = waiting.length > 0 && this.#sessions.isDistrusted(principal);
      if (run.isStopped) run.late.resolve({ kind: "late" });
    } else if (waiting.some((job) => nameSession(job.principal) !== nameSession(principal))) {
      this.#moveAside(run);
    }
  }

  #moveAside(run: CheckRun): void {
    const [shared, second] = [this.#shared, this.#second];
    this.#sessions.noteSlow(run.job.principal);
    shared.run = undefined;
    if (second.run) {
      // Both processes are busy: the check starts again when it is its turn in the second one.
      shared.worker = undefined;
      void this.#end(run.worker);
      this.#add(run.job);
    } else {
      [shared.worker, second.worker] = [second.worker, shared.worker];
      second.run = run;
      run.lane = second;
    }
    this.#serve(shared);
  }

  async #finish(run: CheckRun, outcome: CheckOutcome): Promise<void> {
    const { job, worker, lane } = run;
    if (lane.run !== run) return; // it starts again in the second process
    if (outcome.kind !== "checked" || worker.isTooLarge) await this.#end(worker);
    const isPrepared = outcome.kind !== "unprepared";
    lane.failures = isPrepared ? 0 : lane.failures + 1;
    const waitMs = backoffMs(lane.failures, { firstMs: this.#limits.backoffMs, longestMs: MINUTE_MS });
    lane.notBefore = this.#options.now() + waitMs;
    if (outcome.kind !== "checked" && isPrepared) {
      this.#sessions.noteFailed(job.principal);
      void this.#findWorker(lane)?.prepare(job.surface);
    } else if (isPrepared && lane === this.#shared) {
      this.#sessions.noteChecked(job.principal);
    }
    const result = toResult(outcome);
    // Failures too: the same program would end the next process as well.
    if (isPrepared && !run.isStopped) this.#results.set(job.key, result);
    lane.run = undefined;
    job.settle(result);
    this.#serve(lane);
  }

  async #end(worker: CheckerWorker): Promise<void> {
    await worker.kill();
    this.#workers.delete(worker);
  }

  /** The lane lets go of its process first: a check that comes while the process ends starts another one. */
  #endWhenIdle(lane: CheckLane): void {
    clearTimeout(lane.idle);
    const end = (): void => {
      const { worker } = lane;
      lane.worker = undefined;
      if (worker) void this.#end(worker);
    };
    lane.idle = setTimeout(end, this.#limits.idleMs).unref();
  }
}

/** The same text against the same tools has the same result. */
function keyOf({ surface, text }: Omit<CheckRequest, "principal">): string {
  return `${nameApi(surface)} ${digestOf(text)}`;
}

function toResult(outcome: CheckOutcome): CheckResult {
  if (outcome.kind === "checked") return { kind: "checked", mistakes: outcome.mistakes };
  return { kind: "unchecked", reason: outcome.kind === "late" ? TOO_LONG : BROKEN };
}
