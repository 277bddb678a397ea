/**
 * Moves a program to a faster engine while it runs. A child of that engine starts the program with the same seed and
 * clock, gets every delivery so far, and must do everything that the program has done so far. Then it has the program. If
 * it does anything else, the program stays where it is: a difference between engines costs time, and nothing else.
 * Meanwhile new deliveries are held.
 */

import { GloveboxError } from "../../domain/index.ts";

import type { Frame } from "../frames.ts";
import type { ChildLease, FasterChild, LeasedChild } from "../child-lease.ts";
import type { SandboxChild } from "../start-child.ts";
import { playTape } from "../tape.ts";
import type { Delivery, TapePlayer } from "../tape.ts";
import { ENGINE_ERRORS, SWITCH_TO_COMPUTE, TO_GUEST, TO_HOST } from "../wire.ts";
import type { ThrownMessage } from "../wire.ts";
import type { ProgramHistory } from "./program-history.ts";

/** A program that has computed for so long asks for the faster engine: that one starts it in about the same time. */
export const SWITCH_AFTER_MS = 4;
/** With a doubled pause after each request, an honest program has no time for more. */
export const MOST_REQUESTS = 24;

/** Made once: an error for each program would cost as much as a small one. */
const PROGRAM_ENDED = new GloveboxError("REQUEST_CANCELLED", "The program has ended");

export interface SwitchOptions {
  readonly lease: () => ChildLease;
  readonly history: ProgramHistory;
  /** Starts the program in this child. */
  readonly start: (child: SandboxChild) => void;
  readonly send: (child: SandboxChild, delivery: Delivery) => void;
  /** Called when the other child repeats the program, and when one of the two has it no longer. */
  readonly attach: (child: LeasedChild) => void;
  readonly detach: (child: SandboxChild) => void;
  /** Called when the lease has the other child. */
  readonly onSwitched: () => void;
  /** Called with what was held, when one child has the program again. */
  readonly deliver: (delivery: Delivery) => void;
}

/** What the program's own child does: it runs, it waits for an answer to SWITCH, or it has ended. */
type Own =
  | { readonly kind: "runs" }
  | { readonly kind: "blocked" }
  | { readonly kind: "ended"; readonly end: () => void };

export class EngineSwitch {
  readonly #options: SwitchOptions;
  #state: "idle" | "underWay" | "over" = "idle";
  #own: Own = { kind: "runs" };
  #requests = 0;
  #held: Delivery[] = [];
  #stopped = new AbortController();
  #faster: FasterChild | undefined;
  #player: TapePlayer | undefined;
  #repeated = 0;

  constructor(options: SwitchOptions) {
    this.#options = options;
  }

  /** Whether the program may still ask. */
  get isPossible(): boolean {
    return this.#state !== "over" && this.#options.history.outputs !== undefined;
  }

  get isUnderWay(): boolean {
    return this.#state === "underWay";
  }

  /** Its child may send nothing now. */
  get isBlocked(): boolean {
    return this.#own.kind === "blocked";
  }

  /** The child asks, and waits for END or CONTINUE. `mustStay`: it repeats the program, and is not as far. */
  ask(reason: string, mustStay: boolean): void {
    this.#requests += 1;
    if (this.#state === "over" || this.#requests > MOST_REQUESTS) {
      throw new GloveboxError("SANDBOX_CRASHED", "The sandbox process asked for another engine once too often");
    }
    if (mustStay) return this.#continue(this.#pauseMs);
    this.#own = { kind: "blocked" };
    if (!this.isPossible) return this.#stay();
    if (this.#state === "idle") this.#begin(reason !== SWITCH_TO_COMPUTE);
  }

  /** Whether it took the delivery, to give it to the child that has the program then. */
  holds(delivery: Delivery): boolean {
    if (this.#state === "over") return false;
    if (this.#state === "idle") {
      if (!this.isPossible || this.#options.history.hasRoomFor(delivery)) return false;
      this.#begin(true);
    }
    this.#held.push(delivery);
    return true;
  }

  /**
   * The program ended: repeats it, and calls `end` if it stays. False if that is not possible. `reusable` is false if its
   * child may not be used again.
   */
  endElsewhere(end: () => void, reusable: boolean): boolean {
    if (!this.isPossible) return false;
    const lease = this.#options.lease();
    this.#own = { kind: "ended", end };
    this.#options.detach(lease.child);
    lease.freeChild(reusable);
    if (this.#state === "idle") this.#begin(true);
    return true;
  }

  /** The program ended otherwise. */
  stop(): void {
    this.#state = "over";
    this.#stopped.abort(PROGRAM_ENDED);
    this.#dropFaster();
  }

  /** Twice as long as before, each time. */
  get #pauseMs(): number {
    return SWITCH_AFTER_MS * 2 ** (this.#requests - 1);
  }

  #begin(mustWait: boolean): void {
    this.#state = "underWay";
    const taken = this.#options.lease().takeFaster?.(mustWait, this.#stopped.signal) ?? Promise.resolve(undefined);
    taken.then(
      (faster) => this.#repeatIn(faster),
      () => this.#stay(),
    );
  }

  #repeatIn(faster: FasterChild | undefined): void {
    if (this.#state !== "underWay") return faster?.drop();
    if (!faster) {
      this.#state = "idle";
      this.#continue(this.#pauseMs);
      return this.#deliverHeld();
    }
    const { attach, history, send, start } = this.#options;
    const { child } = faster;
    this.#faster = faster;
    attach(faster);
    this.#player = playTape([...history.deliveries], (delivery) => send(child, delivery));
    child.listener = { frame: (frame) => this.#compare(frame), gone: () => this.#stay() };
    start(child);
    this.#takeOverIfAsFar();
  }

  /** The other child did something: it must be what the program has done. */
  #compare(frame: Frame): void {
    if (this.#state !== "underWay") return;
    if (!this.#options.history.isOutput(this.#repeated, frame)) return this.#stay();
    this.#repeated += 1;
    const asked = frame.kind === TO_HOST.TIMER ? "timer" : "call";
    if (frame.kind !== TO_HOST.LOG && this.#player?.knows(asked, frame.id)) this.#player.ask(asked, frame.id);
    this.#takeOverIfAsFar();
  }

  #takeOverIfAsFar(): void {
    const { history, lease, detach, onSwitched } = this.#options;
    if (!this.#faster || !this.#player?.isOver() || this.#repeated !== history.outputs?.length) return;
    const { child } = lease();
    if (this.#own.kind !== "ended") {
      child.send(TO_GUEST.END, 0, "", 0);
      detach(child);
    }
    this.#faster.takeOver();
    this.#faster = undefined;
    this.#finish();
    onSwitched();
    this.#deliverHeld();
  }

  #stay(): void {
    if (this.#state === "over") return;
    const own = this.#own;
    this.#dropFaster();
    this.#finish();
    if (own.kind === "ended") return own.end();
    if (own.kind === "blocked") this.#continue();
    this.#deliverHeld();
  }

  #finish(): void {
    this.#state = "over";
    this.#own = { kind: "runs" };
    this.#player = undefined;
    this.#options.history.endTrace();
  }

  /** The child may ask again after so much more processor time, or never. */
  #continue(againMs?: number): void {
    this.#own = { kind: "runs" };
    this.#options.lease().child.send(TO_GUEST.CONTINUE, 0, againMs === undefined ? "" : String(againMs), 0);
  }

  #deliverHeld(): void {
    for (const delivery of this.#held.splice(0)) this.#options.deliver(delivery);
  }

  #dropFaster(): void {
    if (!this.#faster) return;
    this.#options.detach(this.#faster.child);
    this.#faster.drop();
    this.#faster = undefined;
  }
}

/** With `Error`, which a program makes itself, and whose position each engine finds in a way of its own. */
const REPEATED_ERRORS: ReadonlySet<string> = new Set([...ENGINE_ERRORS, "Error"]);

/** Whether another engine might end the program differently. The failure of a tool is the same everywhere. */
export function mayBeOfEngine({ kind, name, seq, code }: ThrownMessage): boolean {
  if (kind === "syntax" || kind === "stuck") return true;
  return kind === "thrown" && seq === undefined && code === undefined && REPEATED_ERRORS.has(name);
}
