/**
 * One program from start to end: answers its calls and timers, delivers what its tape has, and ends it at its limits. It
 * runs in one child, unless it has to give up its child while it waits: then a new one repeats what happened. A child is
 * treated as hostile from the first frame on.
 */

import { GloveboxError } from "../../domain/index.ts";

import type { Frame } from "../frames.ts";
import type { ProgramEnding, SandboxJob, SandboxResult } from "../sandbox.ts";
import type { ChildLease } from "../start-child.ts";
import { endedEarly, playTape } from "../tape.ts";
import type { Delivery, TapePlayer, TapeStart } from "../tape.ts";
import { LOG_LEVELS, TO_GUEST, TO_HOST } from "../wire.ts";
import type { Watchdog } from "../watchdog.ts";
import type { StartMessage, ThrownMessage } from "../wire.ts";
import { createOverrun, mostValueBytes } from "./overruns.ts";
import { isOutOfMemory, parseOverrun, parseThrown, toFatal } from "./parse-reports.ts";
import { PlaceKeeper } from "./place-keeper.ts";
import { ProgramHistory } from "./program-history.ts";
import { ProgramOutput } from "./program-output.ts";
import { ProgramWatch, createTimers } from "./program-watch.ts";

const NEARLY_ALL = 0.8;
/** A program that has computed for longer keeps its child: repeating it would cost more than the place is worth. */
const MOST_REPEATED_CPU_MS = 500;

export interface RunOptions {
  readonly lease: ChildLease;
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
  readonly #place: PlaceKeeper;
  readonly #history = new ProgramHistory();
  readonly #begun: TapeStart;
  #lease: ChildLease;
  #player: TapePlayer;
  #open = true;
  #isPinged = false;
  /** It has given up its child, or a new one repeats what happened. Fires if it ends meanwhile. */
  #away: AbortController | undefined;
  /** Calls of its present child. */
  #calls = 0;
  /** The number of its last timer. */
  #lastTimer = 0;
  /** Lines that a new child repeats. */
  #repeatedLines = 0;
  /** Calls that the host has not answered. */
  #openCalls = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    const { lease, job, watchdog, seed, now } = options;
    const { limits, onTimers } = job;
    this.#lease = lease;
    this.#place = this.#createPlace();
    const onLook = (): void => {
      if (this.#open) this.#place.look();
    };
    this.#watch = new ProgramWatch({ limits, watchdog, overrun: (error) => this.#fail(error), onLook });
    this.#timers = createTimers(limits, (id) => this.#answer("tick", id, ""), onTimers);
    this.#output = new ProgramOutput(limits);
    this.#player = playTape(job.tape?.past ?? [], (delivery) => this.#give(delivery));
    job.signal.addEventListener("abort", this.#cancel, { once: true });
    job.suspend?.addEventListener("abort", this.#suspend, { once: true });
    this.#begun = job.tape?.start ?? { seed: seed(), atMs: now() };
    job.tape?.began(this.#begun);
    job.waits?.watchHolds?.((isHeld) => this.#hold(isHeld));
    this.#start();
    this.#pingIfOver();
    if (job.signal.aborted) this.#cancel(); // between its turn in the queue and now
  }

  /** It keeps its place while it repeats its past. */
  #createPlace(): PlaceKeeper {
    const { job } = this.#options;
    const onlyWaits = (): boolean => {
      const people = job.waits?.forPeople() ?? 0;
      const isWaiting = people + this.#timers.open() > 0 && this.#openCalls === people;
      return isWaiting && !this.#isPinged && this.#player.isOver();
    };
    return new PlaceKeeper({
      onlyWaits,
      park: (leave) => this.#lease.park(leave),
      wake: (onPlaced) => this.#wake(onPlaced),
      ping: () => this.#lease.child.send(TO_GUEST.PING, 0, "", 0),
      suspend: () => (job.waits?.suspend() ?? false) || this.#giveUpChild(),
      cpuMs: () => this.#watch.cpuMs,
      lied: () => this.#away ?? this.#fail(activeWithoutPlace()),
      now: () => performance.now(),
    });
  }

  #start(): void {
    const { child } = this.#lease;
    child.listener = {
      frame: (frame) => this.#receive(frame),
      gone: (reason) => this.#fail(this.#watch.toDeath(reason)),
    };
    this.#lease.onTrialOver(() => this.#leaveTrial());
    this.#watch.attach(this.#lease);
    const { seed, atMs } = this.#begun;
    const start = createStart(this.#options.job, seed, this.#watch.leftMs);
    child.send(TO_GUEST.START, 0, JSON.stringify(start), atMs);
  }

  /** Its time on trial is over. It waits for another place without a child, unless it repeats its past or waits anyway. */
  #leaveTrial(): boolean {
    const isBusy = !this.#open || this.#place.isWithoutPlace || this.#place.isPinged || this.#isPinged;
    if (isBusy || !this.#player.isOver() || !this.#giveUpChild()) return false;
    this.#watch.isPatient = true;
    this.#place.yield();
    return true;
  }

  /** A program that waits for a timer cannot be suspended: it stays in this process and gets a new child later. */
  #giveUpChild(): boolean {
    const isCheap = this.#history.isWhole && this.#watch.cpuMs <= MOST_REPEATED_CPU_MS;
    if (!isCheap || !this.#lease.vacate(this.#cancel)) return false;
    this.#away = new AbortController();
    this.#watch.detach();
    return true;
  }

  /** A child that computes meanwhile ends its program at the limit that it knows. */
  #hold(isHeld: boolean): void {
    if (!this.#open || this.#watch.isHeld === isHeld) return;
    this.#watch.isHeld = isHeld;
    if (!isHeld) this.#lease.child.send(TO_GUEST.LEFT, 0, String(this.#watch.leftMs), 0);
  }

  /** The program's time stands still until it has its place, and its child has repeated what happened. */
  #wake(onPlaced: () => void): void {
    this.#watch.pause();
    const placed = (): void => {
      this.#away = undefined;
      this.#watch.resume();
      this.#lease.child.send(TO_GUEST.LEFT, 0, String(this.#watch.leftMs), 0);
      onPlaced();
    };
    if (!this.#away) return this.#lease.wake(placed);
    this.#lease.retake(this.#away.signal).then(
      (lease) => this.#repeat(lease, placed),
      (thrown: unknown) => {
        const error = toFatal(thrown);
        if (error.code === "REQUEST_CANCELLED") this.#cancel();
        else this.#fail(error);
      },
    );
  }

  /** Repeats the program in a new child up to where it waits. */
  #repeat(lease: ChildLease, done: () => void): void {
    if (!this.#open) return lease.release(false);
    this.#lease = lease;
    this.#calls = 0;
    this.#repeatedLines = this.#output.logs.length;
    this.#player = playTape([...this.#history.deliveries], (delivery) => this.#send(delivery));
    this.#start();
    this.#player.whenOver(done);
  }

  #receive(frame: Frame): void {
    if (!this.#open) return;
    try {
      if (this.#place.isWithoutPlace && !this.#away) throw activeWithoutPlace();
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
    if (this.#repeatedLines > 0) return void (this.#repeatedLines -= 1);
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
    const isRepeated = id <= this.#history.calls;
    if (isRepeated) this.#history.checkCall(id, text);
    else this.#history.addCall(text);
    if (this.#player.knows("call", id)) {
      if (!isRepeated) tape?.repeat(id, text);
      return this.#player.ask("call", id);
    }
    if (isRepeated) return; // the host has it already
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
    if (this.#player.knows("timer", id)) return this.#player.ask("timer", id);
    if (id <= this.#lastTimer) return; // it runs, or its tick waits for the program's place
    this.#lastTimer = id;
    this.#timers.checkRoom();
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

  #give(delivery: Delivery): void {
    this.#place.deliver(() => {
      if (!this.#open) return;
      this.#history.addDelivery(delivery);
      this.#send(delivery);
      this.#pingIfOver();
    });
  }

  #send({ kind, id, atMs, text }: Delivery): void {
    this.#lease.child.send(FRAMES[kind], id, text, atMs);
  }

  /** The PONG comes after everything that the program did with its past deliveries, unless it ends before. */
  #pingIfOver(): void {
    const { job } = this.#options;
    if (!this.#open || this.#isPinged || job.tape?.endsWithPast !== true || !this.#player.isOver()) return;
    this.#isPinged = true;
    this.#lease.child.send(TO_GUEST.PING, 0, "", 0);
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
    this.#away?.abort();
    const { job, queueMs } = this.#options;
    job.signal.removeEventListener("abort", this.#cancel);
    job.suspend?.removeEventListener("abort", this.#suspend);
    // Only a child whose program returned or threw may be used again. One that was pinged may answer after the end.
    const mayAnswer = this.#isPinged || this.#place.isPinged;
    this.#lease.release(!mayAnswer && (ending.kind === "returned" || ending.kind === "threw"));
    const usage = {
      queueMs: queueMs + this.#watch.pausedMs + this.#watch.heldMs,
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

/** Includes only the limits that the child enforces; the others are enforced outside. */
function createStart(job: SandboxJob, seed: readonly number[], wallMs: number): StartMessage {
  const { limits, program, namespaces, input, network, secrets } = job;
  const { memoryBytes, outputBytes, argumentBytes, depth } = limits;
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

function activeWithoutPlace(): GloveboxError {
  return new GloveboxError(
    "SANDBOX_CRASHED",
    "The sandbox process was active after it reported that its program waits",
  );
}
