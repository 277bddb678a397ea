/**
 * One program from start to end: answers its calls and timers, delivers what its tape has, and ends it at its limits. It
 * runs in one child, unless it has to give up its child while it waits: then a new one repeats what happened. A child is
 * treated as hostile from the first frame on.
 */

import { GloveboxError } from "../../domain/index.ts";
import { ownerOf } from "../../timing/index.ts";

import type { Frame } from "../frames.ts";
import type { ProgramEnding, SandboxJob, SandboxResult } from "../sandbox.ts";
import type { ChildLease } from "../child-lease.ts";
import type { SandboxChild } from "../start-child.ts";
import { endedEarly, playLoosely, playTape } from "../tape.ts";
import type { Delivery, LoosePlayer, TapePlayer, TapeStart } from "../tape.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";
import type { Watchdog } from "../watchdog.ts";
import type { ThrownMessage } from "../wire.ts";
import { Absence } from "./absence.ts";
import { EngineSwitch, SWITCH_AFTER_MS, mayBeOfEngine } from "./engine-switch.ts";
import { readLargeValue } from "./large-value.ts";
import { createOverrun } from "./overruns.ts";
import {
  activeWhileBlocked,
  activeWithoutPlace,
  isOutOfMemory,
  parseOverrun,
  parseThrown,
  readValue,
  toFatal,
} from "./parse-reports.ts";
import { PlaceKeeper } from "./place-keeper.ts";
import { ProgramHistory } from "./program-history.ts";
import { ProgramOutput } from "./program-output.ts";
import { ProgramRequests } from "./program-requests.ts";
import { ProgramWatch } from "./program-watch.ts";
import { sendDelivery, sendStart } from "./start-message.ts";

/** A child whose program waits is ready within a millisecond after END. One that computes does not read it. */
const END_MS = 100;

export interface RunOptions {
  readonly lease: ChildLease;
  readonly job: SandboxJob;
  readonly queueMs: number;
  readonly watchdog: Watchdog;
  /** Four 32-bit numbers for the program's random values. */
  readonly seed: () => readonly number[];
  readonly now: () => number;
  /** For tests: the step at which it asks for the faster engine. */
  readonly switchAtStep?: number | undefined;
}

export class RunningProgram {
  readonly #options: RunOptions;
  readonly #watch: ProgramWatch;
  readonly #requests: ProgramRequests;
  readonly #output: ProgramOutput;
  readonly #outcome = Promise.withResolvers<SandboxResult>();
  /** Resolves when the program has ended. */
  readonly outcome = this.#outcome.promise;
  readonly #cancel = (): void => this.#end({ kind: "cancelled" });
  readonly #suspend = (): void => this.#end({ kind: "paused" });
  readonly #ping = (): void => this.#lease.child.send(TO_GUEST.PING, 0, "", 0);
  readonly #place: PlaceKeeper;
  readonly #history: ProgramHistory;
  /** Absent without a faster engine. */
  readonly #switch: EngineSwitch | undefined;
  readonly #begun: TapeStart;
  #lease: ChildLease;
  #player: TapePlayer;
  /** The player of a program whose answers are improvised. */
  readonly #loose: LoosePlayer | undefined;
  #open = true;
  #isPinged = false;
  #hasPonged = false;
  readonly #absence: Absence;
  #switches = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    const { lease, job, watchdog, seed, now } = options;
    const { limits } = job;
    this.#lease = lease;
    this.#history = new ProgramHistory(lease.takeFaster !== undefined);
    this.#switch = lease.takeFaster && this.#createSwitch();
    this.#absence = this.#createAbsence();
    this.#place = this.#createPlace();
    const onLook = (): void => {
      if (this.#open) this.#place.look();
    };
    this.#watch = new ProgramWatch({ limits, watchdog, overrun: (error) => this.#fail(error), onLook });
    this.#requests = new ProgramRequests({
      job,
      history: this.#history,
      player: () => this.#player,
      elapsedMs: () => this.#watch.elapsedMs,
      answer: (kind, id, text) => this.#answer(kind, id, text),
      fail: (error) => this.#fail(error),
    });
    this.#output = new ProgramOutput(limits);
    this.#loose = this.#createLoose();
    this.#player = this.#loose ?? playTape(job.tape?.past ?? [], (delivery) => this.#give(delivery));
    job.signal.addEventListener("abort", this.#cancel, { once: true });
    job.suspend?.addEventListener("abort", this.#suspend, { once: true });
    this.#begun = job.tape?.start ?? { seed: seed(), atMs: now() };
    job.tape?.began(this.#begun, lease.engine);
    job.waits?.watchHolds?.((isHeld) => this.#hold(isHeld));
    this.#startChild();
    this.#pingIfOver();
    if (job.signal.aborted) this.#cancel(); // between its turn in the queue and now
  }

  /** It keeps its place while it repeats its past. */
  #createPlace(): PlaceKeeper {
    const { job } = this.#options;
    const onlyWaits = (): boolean =>
      this.#requests.areWaits && !this.#isPinged && !this.#switch?.isUnderWay && this.#player.isOver();
    return new PlaceKeeper({
      onlyWaits,
      park: (leave) => this.#lease.park(leave),
      wake: (onPlaced) => this.#absence.wake(onPlaced),
      ping: this.#ping,
      suspend: () => (job.waits?.suspend() ?? false) || this.#absence.giveUpChild(),
      cpuMs: () => this.#watch.cpuMs,
      lied: () => this.#absence.isAway || this.#fail(activeWithoutPlace()),
      now: () => performance.now(),
    });
  }

  #createLoose(): LoosePlayer | undefined {
    const { improvise } = this.#options.job.tape ?? {};
    return improvise && playLoosely(improvise, (delivery) => this.#give(delivery), this.#ping);
  }

  #createAbsence(): Absence {
    return new Absence({
      lease: () => this.#lease,
      watch: () => this.#watch,
      history: this.#history,
      repeat: (lease, done) => this.#repeat(lease, done),
      sendLeft: () => this.#sendLeft(),
      cancel: this.#cancel,
      fail: (error) => this.#fail(error),
    });
  }

  #createSwitch(): EngineSwitch {
    return new EngineSwitch({
      lease: () => this.#lease,
      history: this.#history,
      start: (child) => this.#start(child, false),
      send: sendDelivery,
      attach: (child) => this.#watch.attach(child),
      detach: (child) => this.#watch.detach(child),
      deliver: (delivery) => this.#enter(delivery),
      onSwitched: () => {
        this.#switches += 1;
        this.#options.job.tape?.switched?.(this.#lease.engine);
        this.#listen();
        this.#place.renew();
        if (this.#watch.heldMs > 0) this.#sendLeft();
        if (this.#isPinged) this.#ping();
      },
    });
  }

  #startChild(): void {
    this.#listen();
    this.#lease.onTrialOver(() => this.#leaveTrial());
    this.#watch.attach(this.#lease);
    this.#start(this.#lease.child, this.#switch?.isPossible ?? false);
  }

  #listen(): void {
    const { child } = this.#lease;
    child.listener = {
      frame: (frame) => this.#receive(frame),
      gone: (reason) => this.#fail(this.#watch.toDeath(child, reason)),
    };
  }

  #start(child: SandboxChild, maySwitch: boolean): void {
    const { job, switchAtStep: atStep } = this.#options;
    const switching = maySwitch ? { afterMs: SWITCH_AFTER_MS, atStep } : undefined;
    sendStart(child, job, { ...this.#begun, wallMs: this.#watch.leftMs, switching });
  }

  /** Its time on trial is over. It waits for another place without a child, unless it repeats its past or waits anyway. */
  #leaveTrial(): boolean {
    const isBusy = !this.#open || this.#place.isWithoutPlace || this.#pongs > 0 || this.#switch?.isUnderWay;
    if (this.#loose || isBusy || !this.#player.isOver() || !this.#absence.giveUpChild()) return false;
    this.#watch.isPatient = true;
    this.#place.yield();
    return true;
  }

  /** A child that computes meanwhile ends its program at the limit that it knows. */
  #hold(isHeld: boolean): void {
    if (!this.#open || this.#watch.isHeld === isHeld) return;
    this.#watch.isHeld = isHeld;
    // A child that it gets later is told when it has repeated what happened.
    if (!isHeld && !this.#absence.isAway) this.#sendLeft();
  }

  #sendLeft(): void {
    this.#lease.child.send(TO_GUEST.LEFT, 0, String(this.#watch.leftMs), 0);
  }

  /** Repeats the program in a new child up to where it waits. */
  #repeat(lease: ChildLease, done: () => void): void {
    if (!this.#open) return lease.release(false);
    this.#lease = lease;
    this.#requests.startOver();
    this.#output.startOver();
    this.#player = playTape([...this.#history.deliveries], (delivery) => sendDelivery(lease.child, delivery));
    this.#startChild();
    this.#player.whenOver(done);
  }

  #receive(frame: Frame): void {
    if (!this.#open) return;
    try {
      if (this.#place.isWithoutPlace && !this.#absence.isAway) throw activeWithoutPlace();
      if (this.#switch?.isBlocked) throw activeWhileBlocked();
      this.#take(frame);
    } catch (thrown) {
      this.#fail(toFatal(thrown));
    }
  }

  #take({ kind, id, text }: Frame): void {
    switch (kind) {
      case TO_HOST.CALL:
        return this.#requests.call(id, text);
      case TO_HOST.TIMER:
        return this.#requests.startTimer(id, text);
      case TO_HOST.LOG:
        return this.#log(id, text);
      case TO_HOST.USAGE:
        return this.#watch.report(this.#lease.child, text);
      case TO_HOST.DONE:
        return this.#finish(text);
      case TO_HOST.THREW:
        return this.#endThrown(parseThrown(text));
      case TO_HOST.OVERRUN:
        return this.#fail(parseOverrun(text, this.#options.job.limits));
      case TO_HOST.PONG:
        // The result of a last call may be on its way and comes first.
        if (this.#isPinged) {
          this.#hasPonged = true;
          return void setImmediate(this.#suspend);
        }
        if (this.#loose?.takePong() || this.#place.takePong()) return;
        throw new GloveboxError("SANDBOX_CRASHED", "Unexpected PONG from the sandbox process");
      case TO_HOST.SWITCH:
        if (this.#switch) return this.#switch.ask(text, this.#absence.isAway);
        throw new GloveboxError("SANDBOX_CRASHED", "The sandbox process asked for another engine, and there is none");
      default:
        throw new GloveboxError("SANDBOX_CRASHED", `The sandbox process sent a frame of unknown kind ${kind}`);
    }
  }

  #log(level: number, text: string): void {
    const line = this.#output.takeLine(level, text, this.#watch.elapsedMs);
    if (!line) return;
    this.#history.addLine(level, text);
    if (this.#player.isOver()) this.#options.job.onLog?.(line);
  }

  /** An uncaught allocation failure is the memory limit, not an error of the program. */
  #endThrown(thrown: ThrownMessage): void {
    const { limits } = this.#options.job;
    if (isOutOfMemory(thrown, limits, this.#watch.peakBytes)) throw createOverrun("memory", limits);
    if (!this.#player.isOver()) throw endedEarly();
    const end = (): void => this.#end({ kind: "threw", thrown });
    if (!mayBeOfEngine(thrown) || !this.#switch?.endElsewhere(end, this.#pongs === 0)) end();
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
    this.#place.deliver(() => this.#enter(delivery));
  }

  #enter(delivery: Delivery): void {
    if (!this.#open || this.#switch?.holds(delivery)) return;
    this.#history.addDelivery(delivery);
    sendDelivery(this.#lease.child, delivery);
    this.#pingIfOver();
  }

  /** How many PINGs its child has not answered, and may answer after the program's end. */
  get #pongs(): number {
    const isPinged = [this.#isPinged && !this.#hasPonged, this.#place.isPinged, this.#loose?.isPinged];
    return isPinged.filter(Boolean).length;
  }

  /** The PONG comes after everything that the program did with its past deliveries, unless it ends before. */
  #pingIfOver(): void {
    const { job } = this.#options;
    if (!this.#open || this.#isPinged || job.tape?.endsWithPast !== true || !this.#player.isOver()) return;
    this.#isPinged = true;
    this.#ping();
  }

  #finish(text: string): void {
    this.#output.countValue(text);
    if (!this.#player.isOver()) throw endedEarly();
    const { limits, principal, session } = this.#options.job;
    const work = readValue(text, limits);
    const first = work.next();
    if (first.done === true) return this.#end({ kind: "returned", value: first.value });
    this.#stop();
    const { child } = this.#lease;
    const owner = ownerOf({ id: principal, session });
    const pongs = (): number => this.#pongs;
    void readLargeValue(work, { child, owner, pongs, settle: (ending) => this.#settle(ending) });
  }

  #fail(error: GloveboxError): void {
    this.#end({ kind: "failed", error });
  }

  #end(ending: ProgramEnding): void {
    if (!this.#open) return;
    const isBlocked = this.#switch?.isBlocked ?? false;
    this.#stop();
    this.#settle(ending, isBlocked);
  }

  /** The program has ended: it is not watched or answered any more. */
  #stop(): void {
    this.#open = false;
    this.#watch.stop();
    this.#requests.stop();
    this.#absence.stop();
    this.#switch?.stop();
    const { job } = this.#options;
    job.signal.removeEventListener("abort", this.#cancel);
    job.suspend?.removeEventListener("abort", this.#suspend);
  }

  #settle(ending: ProgramEnding, isBlocked = false): void {
    this.#release(ending, isBlocked);
    const { logs, bytes: outputBytes } = this.#output;
    const usage = { ...this.#watch.usageAfter(this.#options.queueMs), outputBytes, switches: this.#switches };
    this.#outcome.resolve({ ending, logs, usage, engine: this.#lease.engine });
  }

  /** Only a child whose program returned or threw may be used again, or was suspended while it waited. */
  #release({ kind }: ProgramEnding, isBlocked: boolean): void {
    const isPaused = kind === "paused";
    if (isBlocked || !(isPaused || kind === "returned" || kind === "threw")) return this.#lease.release(false);
    if (isPaused) this.#lease.child.send(TO_GUEST.END, 0, "", 0);
    this.#lease.release(true, { pongs: this.#pongs, readyMs: isPaused ? END_MS : undefined });
  }
}
