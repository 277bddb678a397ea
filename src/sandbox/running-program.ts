/**
 * One program in one child, from its start to its end: answers its calls and timers, keeps its logs, watches its
 * limits and ends it when it must. The child is treated as hostile from the first frame on.
 */

import { GloveboxError, depthOf } from "../domain/index.ts";
import type { LogLine } from "../domain/index.ts";

import type { Frame } from "./frames.ts";
import { measureProcess } from "./measure.ts";
import type { Measure } from "./measure.ts";
import {
  cpuOverrun,
  depthOverrun,
  lineOverrun,
  memoryOverrun,
  mostValueBytes,
  outputOverrun,
  resultOverrun,
  timerOverrun,
  wallOverrun,
} from "./overruns.ts";
import { isOutOfMemory, parseOverrun, parseThrown, parseUsage, parseValue, toDeath, toFatal } from "./parse-reports.ts";
import { LAST } from "./priority.ts";
import type { Ending, SandboxJob, SandboxResult } from "./sandbox.ts";
import type { Child } from "./start-child.ts";
import { endedEarly, playTape } from "./tape.ts";
import type { Delivery, Player } from "./tape.ts";
import { LOG_LEVELS, TO_GUEST, TO_HOST } from "./wire.ts";
import type { StartMessage, ThrownMessage } from "./wire.ts";

const WATCH_MS = 20;
/** A program that has computed for so long is not one that somebody waits for at a keystroke. */
const GIVE_WAY_MS = 100;
/** The isolate ends itself at the limit, with its logs in order; the kill follows if it does not. */
const WALL_GRACE_MS = 25;
/** What an engine needs beside the program's own data: compiled code, collection, buffers. */
const MEMORY_MARGIN_BYTES = 32 * 1024 * 1024;
const NEARLY_ALL = 0.8;
const MOST_TIMERS = 1_000;
const MOST_LINES = 10_000;

export interface RunOptions {
  readonly child: Child;
  /** What the child had used before this program. */
  readonly baseline: Measure;
  readonly job: SandboxJob;
  readonly queueMs: number;
  /** Four 32-bit numbers for the program's random values. */
  readonly seed: () => readonly number[];
  readonly now: () => number;
  /**
   * Called once, at the end, before the outcome is known to anybody: the child's next frame is no longer ours.
   * Only a child whose program returned or threw may be used again.
   */
  readonly release: (reusable: boolean) => void;
}

export class RunningProgram {
  readonly #options: RunOptions;
  readonly #startedAt = performance.now();
  readonly #logs: LogLine[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #wall: NodeJS.Timeout;
  readonly #watch: NodeJS.Timeout;
  readonly #outcome = Promise.withResolvers<SandboxResult>();
  readonly #cancel = (): void => this.#end({ kind: "cancelled" });
  readonly #putAway = (): void => this.#end({ kind: "paused" });
  readonly #player: Player;
  #open = true;
  #isAsked = false;
  #calls = 0;
  #outputBytes = 0;
  #dueTimers = 0;
  #cpuMs = 0;
  #gaveWay = false;
  #peakBytes = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    const { child, job } = options;
    this.#player = playTape(job.tape?.past ?? [], (delivery) => this.#give(delivery));
    this.#wall = setTimeout(() => this.#fail(wallOverrun(job.limits)), job.limits.wallMs + WALL_GRACE_MS);
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
    job.signal.addEventListener("abort", this.#cancel, { once: true });
    job.setAside?.addEventListener("abort", this.#putAway, { once: true });
    child.listener = {
      frame: (frame) => this.#receive(frame),
      gone: (reason) => this.#fail(toDeath(reason, job.limits, this.#peakBytes)),
    };
    this.#start();
    if (job.signal.aborted) this.#cancel(); // between its turn in the queue and now
  }

  /** Resolves when the program has ended. */
  get outcome(): Promise<SandboxResult> {
    return this.#outcome.promise;
  }

  #start(): void {
    const { child, job, now } = this.#options;
    const start = job.tape?.start ?? { seed: this.#options.seed(), atMs: now() };
    job.tape?.began(start);
    child.send(TO_GUEST.START, 0, JSON.stringify(createStart(job, start.seed)), start.atMs);
    this.#askIfOver();
  }

  #receive(frame: Frame): void {
    if (!this.#open) return;
    try {
      this.#take(frame);
    } catch (thrown) {
      this.#fail(toFatal(thrown));
    }
  }

  #take({ kind, id, text }: Frame): void {
    const { limits } = this.#options.job;
    switch (kind) {
      case TO_HOST.CALL:
        return this.#call(id, text);
      case TO_HOST.TIMER:
        return this.#startTimer(id, Number(text));
      case TO_HOST.LOG:
        this.#charge(text);
        // An empty line has no bytes to charge for, but costs the host as much as any other.
        if (this.#logs.length >= MOST_LINES) throw lineOverrun(MOST_LINES);
        return this.#log({ level: LOG_LEVELS[id] ?? "log", text, atMs: Math.floor(this.#elapsedMs()) });
      case TO_HOST.USAGE:
        return this.#use(text);
      case TO_HOST.DONE:
        return this.#finish(text);
      case TO_HOST.THREW:
        return this.#endThrown(parseThrown(text));
      case TO_HOST.OVERRUN:
        return this.#fail(parseOverrun(text, limits));
      case TO_HOST.PONG:
        // What a last call came to may be on its way, and comes first.
        if (this.#isAsked) return void setImmediate(this.#putAway);
        throw new GloveboxError("SANDBOX_CRASHED", "The sandbox process answered what it was not asked");
      default:
        throw new GloveboxError("SANDBOX_CRASHED", `The sandbox process sent a frame of unknown kind ${kind}`);
    }
  }

  #log(line: LogLine): void {
    this.#logs.push(line);
    if (this.#player.isOver()) this.#options.job.onLog?.(line);
  }

  /** A program that leaves a refused allocation uncaught has met its memory limit, not a mistake of its own. */
  #endThrown(thrown: ThrownMessage): void {
    if (isOutOfMemory(thrown) || this.#lostItsWay(thrown)) throw memoryOverrun(this.#options.job.limits);
    if (!this.#player.isOver()) throw endedEarly();
    this.#end({ kind: "threw", thrown });
  }

  /** An engine that has no memory left may not even be able to settle the program's promise: that is not its mistake. */
  #lostItsWay({ kind }: ThrownMessage): boolean {
    return kind === "stuck" && this.#peakBytes > this.#options.job.limits.memoryBytes * NEARLY_ALL;
  }

  #call(id: number, text: string): void {
    this.#calls += 1;
    // The guest numbers its calls; a number out of turn means that the child no longer speaks our protocol.
    if (id !== this.#calls) {
      throw new GloveboxError("SANDBOX_CRASHED", `Call ${id} came in the place of call ${this.#calls}`);
    }
    const cut = text.indexOf("\n");
    if (cut < 0) throw new GloveboxError("SANDBOX_CRASHED", `Call ${id} has no arguments`);
    const { host, tape } = this.#options.job;
    const isPast = this.#player.knows("call", id);
    if (isPast) tape?.repeat(id, text);
    if (isPast) return this.#player.ask("call", id);
    this.#player.whenOver(() => {
      host.call(text.slice(0, cut), text.slice(cut + 1), id).then(
        (reply) => {
          if (reply.ok) this.#answer("reply", id, reply.json);
          else this.#answer("failure", id, JSON.stringify(reply.error));
        },
        (thrown: unknown) => this.#fail(toFatal(thrown)),
      );
    });
  }

  #startTimer(id: number, wantedMs: number): void {
    if (this.#timers.size >= MOST_TIMERS) throw timerOverrun(MOST_TIMERS);
    // A timer past the wall limit never fires, so there is no need to wait longer.
    const delayMs = Math.min(Math.max(wantedMs || 0, 0), this.#options.job.limits.wallMs + WALL_GRACE_MS);
    if (this.#player.knows("timer", id)) return this.#player.ask("timer", id);
    this.#player.whenOver(() => {
      // One that is due after the end of the program is nothing that it waits for.
      const isDue = this.#elapsedMs() + delayMs < this.#options.job.limits.wallMs;
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#answer("tick", id, "");
        if (isDue) this.#countDue(-1);
      }, delayMs);
      this.#timers.add(timer);
      if (isDue) this.#countDue(1);
    });
  }

  #countDue(change: 1 | -1): void {
    this.#dueTimers += change;
    if (this.#open) this.#options.job.onTimers?.(this.#dueTimers);
  }

  #answer(kind: Delivery["kind"], id: number, text: string): void {
    if (!this.#open) return;
    const { job, now } = this.#options;
    const delivery = { kind, id, atMs: job.tape?.now?.() ?? now(), text };
    const kept = job.tape?.keep(delivery);
    if (!kept) return this.#give(delivery);
    kept.then(
      () => this.#give(delivery),
      (thrown: unknown) => this.#fail(toFatal(thrown)),
    );
  }

  #give({ kind, id, atMs, text }: Delivery): void {
    if (this.#open) this.#options.child.send(FRAMES[kind], id, text, atMs);
    this.#askIfOver();
  }

  /** The answer comes after everything that the program did with what it was given, unless it ends before. */
  #askIfOver(): void {
    const { job, child } = this.#options;
    if (!this.#open || this.#isAsked || job.tape?.isAll !== true || !this.#player.isOver()) return;
    this.#isAsked = true;
    child.send(TO_GUEST.PING, 0, "", 0);
  }

  /** The value has a limit of its own, counted here again; whoever settles sees by `outputBytes` if it is large. */
  #finish(text: string): void {
    const { limits } = this.#options.job;
    const bytes = Buffer.byteLength(text);
    this.#outputBytes += bytes;
    if (bytes > mostValueBytes(limits)) throw resultOverrun(limits);
    const value = text === "" ? undefined : parseValue(text);
    if (value !== undefined && depthOf(value, limits.depth) > limits.depth) throw depthOverrun(limits);
    if (!this.#player.isOver()) throw endedEarly();
    this.#end({ kind: "returned", value });
  }

  /** Counted here again because the guest's own count cannot be trusted. */
  #charge(text: string): void {
    this.#outputBytes += Buffer.byteLength(text);
    if (this.#outputBytes > this.#options.job.limits.outputBytes) throw outputOverrun(this.#options.job.limits);
  }

  #use(text: string): void {
    const { cpuMs, heapBytes } = parseUsage(text);
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs);
    this.#peakBytes = Math.max(this.#peakBytes, heapBytes);
  }

  /** Looks from outside, where no guest can cheat: off-heap memory and native loops show up here. */
  #look(): void {
    const { child, baseline, job } = this.#options;
    const measure = measureProcess(child.pid);
    if (!measure) return;
    const usedBytes = measure.residentBytes - baseline.residentBytes;
    this.#cpuMs = measure.cpuMs - baseline.cpuMs;
    if (this.#cpuMs > GIVE_WAY_MS && !this.#gaveWay) {
      this.#gaveWay = true;
      child.giveWay(LAST);
    }
    this.#peakBytes = Math.max(this.#peakBytes, usedBytes);
    if (usedBytes > job.limits.memoryBytes + MEMORY_MARGIN_BYTES) this.#fail(memoryOverrun(job.limits));
    else if (this.#cpuMs > job.limits.cpuMs) this.#fail(cpuOverrun(job.limits, this.#cpuMs));
  }

  #fail(error: GloveboxError): void {
    this.#end({ kind: "failed", error });
  }

  #end(ending: Ending): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#wall);
    clearInterval(this.#watch);
    for (const timer of this.#timers) clearTimeout(timer);
    const { job, queueMs, release } = this.#options;
    job.signal.removeEventListener("abort", this.#cancel);
    job.setAside?.removeEventListener("abort", this.#putAway);
    // One that was asked may answer when it has no program any more.
    release(!this.#isAsked && (ending.kind === "returned" || ending.kind === "threw"));
    const usage = {
      queueMs,
      wallMs: this.#elapsedMs(),
      cpuMs: this.#cpuMs,
      peakMemoryBytes: this.#peakBytes,
      outputBytes: this.#outputBytes,
    };
    this.#outcome.resolve({ ending, logs: this.#logs, usage });
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

const FRAMES: Readonly<Record<Delivery["kind"], number>> = {
  reply: TO_GUEST.REPLY,
  failure: TO_GUEST.FAILURE,
  tick: TO_GUEST.TICK,
};

function createStart(job: SandboxJob, seed: readonly number[]): StartMessage {
  const { limits, program, namespaces, input, network, secrets } = job;
  return {
    javascript: program.javascript,
    namespaces: Object.fromEntries(namespaces.map(({ name, tools }) => [name, tools.join(",")])),
    input: input === undefined ? null : JSON.stringify(input),
    seed,
    ...(network === true && { network }),
    ...(secrets && { secrets }),
    limits: {
      wallMs: limits.wallMs,
      memoryBytes: limits.memoryBytes,
      outputBytes: limits.outputBytes,
      valueBytes: mostValueBytes(limits),
      argumentBytes: limits.argumentBytes,
      depth: limits.depth,
    },
  };
}
