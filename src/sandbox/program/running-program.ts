/**
 * One program in one child, from start to end: answers its calls and timers, delivers what its tape has, and ends it at
 * its limits. The child is treated as hostile from the first frame on.
 */

import { GloveboxError, depthOf } from "../../domain/index.ts";
import type { Json, Limits, LogLine } from "../../domain/index.ts";

import type { Frame } from "../frames.ts";
import type { ProgramEnding, SandboxJob, SandboxResult } from "../sandbox.ts";
import type { ChildLease } from "../start-child.ts";
import { endedEarly, playTape } from "../tape.ts";
import type { Delivery, TapePlayer } from "../tape.ts";
import { LOG_LEVELS, TO_GUEST, TO_HOST } from "../wire.ts";
import type { Watchdog } from "../watchdog.ts";
import type { StartMessage, ThrownMessage } from "../wire.ts";
import { MOST_LINES, createOverrun, mostValueBytes } from "./overruns.ts";
import { isOutOfMemory, parseOverrun, parseThrown, parseValue, toFatal } from "./parse-reports.ts";
import { PlaceKeeper } from "./place-keeper.ts";
import { ProgramWatch, createTimers } from "./program-watch.ts";

const NEARLY_ALL = 0.8;

export interface RunOptions extends ChildLease {
  readonly job: SandboxJob;
  readonly queueMs: number;
  readonly watchdog: Watchdog;
  /** Four 32-bit numbers for the program's random values. */
  readonly seed: () => readonly number[];
  readonly now: () => number;
}

export class RunningProgram {
  readonly #options: RunOptions;
  readonly #watch: ProgramWatch;
  readonly #timers: ReturnType<typeof createTimers>;
  readonly #output: ProgramOutput;
  readonly #outcome = Promise.withResolvers<SandboxResult>();
  /** Resolves when the program has ended. */
  readonly outcome = this.#outcome.promise;
  readonly #cancel = (): void => this.#end({ kind: "cancelled" });
  readonly #suspend = (): void => this.#end({ kind: "paused" });
  readonly #player: TapePlayer;
  readonly #place: PlaceKeeper;
  #open = true;
  #isPinged = false;
  #calls = 0;
  /** Calls that the host has not answered. */
  #openCalls = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    const { child, job } = options;
    const { limits, onTimers } = job;
    this.#place = this.#createPlace();
    const onLook = (): void => {
      if (this.#open) this.#place.look();
    };
    this.#watch = new ProgramWatch(options, limits, { overrun: (error) => this.#fail(error), onLook });
    this.#timers = createTimers(limits, (id) => this.#answer("tick", id, ""), onTimers);
    this.#output = new ProgramOutput(limits);
    this.#player = playTape(job.tape?.past ?? [], (delivery) => this.#give(delivery));
    job.signal.addEventListener("abort", this.#cancel, { once: true });
    job.suspend?.addEventListener("abort", this.#suspend, { once: true });
    child.listener = {
      frame: (frame) => this.#receive(frame),
      gone: (reason) => this.#fail(this.#watch.toDeath(reason)),
    };
    this.#start();
    if (job.signal.aborted) this.#cancel(); // between its turn in the queue and now
  }

  /** It keeps its place while it repeats its past. */
  #createPlace(): PlaceKeeper {
    const { child, job, park, wake } = this.#options;
    const onlyWaits = (): boolean => {
      const people = job.waits?.forPeople() ?? 0;
      const isWaiting = people + this.#timers.open() > 0 && this.#openCalls === people;
      return isWaiting && !this.#isPinged && this.#player.isOver();
    };
    const ping = (): void => child.send(TO_GUEST.PING, 0, "", 0);
    const suspend = (): boolean => job.waits?.suspend() ?? false;
    return new PlaceKeeper({ park, wake, onlyWaits, ping, suspend, now: () => performance.now() });
  }

  #start(): void {
    const { child, job, now } = this.#options;
    const start = job.tape?.start ?? { seed: this.#options.seed(), atMs: now() };
    job.tape?.began(start);
    child.send(TO_GUEST.START, 0, JSON.stringify(createStart(job, start.seed)), start.atMs);
    this.#pingIfOver();
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
    switch (kind) {
      case TO_HOST.CALL:
        return this.#call(id, text);
      case TO_HOST.TIMER:
        return this.#startTimer(id, Number(text));
      case TO_HOST.LOG:
        return this.#log(id, text);
      case TO_HOST.USAGE:
        return this.#watch.report(text);
      case TO_HOST.DONE:
        return this.#finish(text);
      case TO_HOST.THREW:
        return this.#endThrown(parseThrown(text));
      case TO_HOST.OVERRUN:
        return this.#fail(parseOverrun(text, this.#options.job.limits));
      case TO_HOST.PONG:
        // The result of a last call may be on its way and comes first.
        if (this.#isPinged) return void setImmediate(this.#suspend);
        if (this.#place.takePong()) return;
        throw new GloveboxError("SANDBOX_CRASHED", "Unexpected PONG from the sandbox process");
      default:
        throw new GloveboxError("SANDBOX_CRASHED", `The sandbox process sent a frame of unknown kind ${kind}`);
    }
  }

  #log(level: number, text: string): void {
    const line = { level: LOG_LEVELS[level] ?? "log", text, atMs: Math.floor(this.#watch.elapsedMs) };
    this.#output.addLine(line);
    if (this.#player.isOver()) this.#options.job.onLog?.(line);
  }

  /** An uncaught allocation failure is the memory limit, not an error of the program. */
  #endThrown(thrown: ThrownMessage): void {
    // An engine without free memory may be unable to settle the program's promise.
    const { limits } = this.#options.job;
    const isStuck = thrown.kind === "stuck" && this.#watch.peakBytes > limits.memoryBytes * NEARLY_ALL;
    if (isStuck || isOutOfMemory(thrown)) throw createOverrun("memory", limits);
    if (!this.#player.isOver()) throw endedEarly();
    this.#end({ kind: "threw", thrown });
  }

  #call(id: number, text: string): void {
    this.#calls += 1;
    // The guest numbers its calls; a wrong number means that the child no longer follows the protocol.
    if (id !== this.#calls) {
      throw new GloveboxError("SANDBOX_CRASHED", `Call ${id} came in the place of call ${this.#calls}`);
    }
    const cut = text.indexOf("\n");
    if (cut < 0) throw new GloveboxError("SANDBOX_CRASHED", `Call ${id} has no arguments`);
    const { host, tape } = this.#options.job;
    if (this.#player.knows("call", id)) {
      tape?.repeat(id, text);
      return this.#player.ask("call", id);
    }
    this.#player.whenOver(() => {
      this.#openCalls += 1;
      host.call(text.slice(0, cut), text.slice(cut + 1), id).then(
        (reply) => {
          this.#openCalls -= 1;
          if (reply.ok) this.#answer("reply", id, reply.json);
          else this.#answer("failure", id, JSON.stringify(reply.error));
        },
        (thrown: unknown) => this.#fail(toFatal(thrown)),
      );
    });
  }

  #startTimer(id: number, wantedMs: number): void {
    this.#timers.checkRoom();
    if (this.#player.knows("timer", id)) return this.#player.ask("timer", id);
    this.#player.whenOver(() => this.#timers.start(id, wantedMs, this.#watch.elapsedMs));
  }

  #answer(kind: Delivery["kind"], id: number, text: string): void {
    if (!this.#open) return;
    const { job, now } = this.#options;
    const delivery = { kind, id, atMs: job.tape?.now?.() ?? now(), text };
    const written = job.tape?.keep(delivery);
    if (!written) return this.#give(delivery);
    written.then(
      () => this.#give(delivery),
      (thrown: unknown) => this.#fail(toFatal(thrown)),
    );
  }

  #give({ kind, id, atMs, text }: Delivery): void {
    this.#place.deliver(() => {
      if (this.#open) this.#options.child.send(FRAMES[kind], id, text, atMs);
      this.#pingIfOver();
    });
  }

  /** The PONG comes after everything that the program did with its past deliveries, unless it ends before. */
  #pingIfOver(): void {
    const { job, child } = this.#options;
    if (!this.#open || this.#isPinged || job.tape?.endsWithPast !== true || !this.#player.isOver()) return;
    this.#isPinged = true;
    child.send(TO_GUEST.PING, 0, "", 0);
  }

  #finish(text: string): void {
    const value = this.#output.takeValue(text);
    if (!this.#player.isOver()) throw endedEarly();
    this.#end({ kind: "returned", value });
  }

  #fail(error: GloveboxError): void {
    this.#end({ kind: "failed", error });
  }

  #end(ending: ProgramEnding): void {
    if (!this.#open) return;
    this.#open = false;
    this.#watch.stop();
    this.#timers.stop();
    const { job, queueMs, release } = this.#options;
    job.signal.removeEventListener("abort", this.#cancel);
    job.suspend?.removeEventListener("abort", this.#suspend);
    // Only a child whose program returned or threw may be used again. One that was pinged may answer after the end.
    const mayAnswer = this.#isPinged || this.#place.isPinged;
    release(!mayAnswer && (ending.kind === "returned" || ending.kind === "threw"));
    const usage = {
      queueMs,
      wallMs: this.#watch.elapsedMs,
      cpuMs: this.#watch.cpuMs,
      peakMemoryBytes: this.#watch.peakBytes,
      outputBytes: this.#output.bytes,
    };
    this.#outcome.resolve({ ending, logs: this.#output.logs, usage });
  }
}

const FRAMES: Readonly<Record<Delivery["kind"], number>> = {
  reply: TO_GUEST.REPLY,
  failure: TO_GUEST.FAILURE,
  tick: TO_GUEST.TICK,
};

/** The console lines and the value of one program, counted again because the guest's count cannot be trusted. */
class ProgramOutput {
  readonly #limits: Limits;
  readonly logs: LogLine[] = [];
  /** Of lines and value together, including refused ones. */
  bytes = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Throws LIMIT_SIZE instead of keeping a line above the limit. */
  addLine(line: LogLine): void {
    this.bytes += Buffer.byteLength(line.text);
    if (this.bytes > this.#limits.outputBytes) throw createOverrun("output", this.#limits);
    // Empty lines have no bytes but cost the host as much as others.
    if (this.logs.length >= MOST_LINES) throw createOverrun("lines", this.#limits);
    this.logs.push(line);
  }

  /** The value has a separate limit; `bytes` shows the caller if it is large. */
  takeValue(text: string): Json | undefined {
    const bytes = Buffer.byteLength(text);
    this.bytes += bytes;
    if (bytes > mostValueBytes(this.#limits)) throw createOverrun("result", this.#limits);
    if (text === "") return undefined;
    const value = parseValue(text);
    if (depthOf(value, this.#limits.depth) > this.#limits.depth) throw createOverrun("depth", this.#limits);
    return value;
  }
}

/** Includes only the limits that the child enforces; the others are enforced outside. */
function createStart(job: SandboxJob, seed: readonly number[]): StartMessage {
  const { limits, program, namespaces, input, network, secrets } = job;
  const { wallMs, memoryBytes, outputBytes, argumentBytes, depth } = limits;
  return {
    javascript: program.javascript,
    namespaces: Object.fromEntries(namespaces.map(({ name, tools }) => [name, tools.join(",")])),
    input: input === undefined ? null : JSON.stringify(input),
    seed,
    network,
    secrets,
    limits: { wallMs, memoryBytes, outputBytes, valueBytes: mostValueBytes(limits), argumentBytes, depth },
  };
}
