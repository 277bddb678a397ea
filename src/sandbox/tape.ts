/**
 * The inputs of a program, in order. A guest has no other input, so the same program with the same deliveries in the same
 * order does the same again: an execution can be suspended, resumed and replayed.
 */

import { GloveboxError } from "../domain/index.ts";
import type { EngineName } from "../domain/index.ts";

/** The seed and the time at a program's start. */
export interface TapeStart {
  /** Four 32-bit numbers for its random values. */
  readonly seed: readonly number[];
  readonly atMs: number;
}

/** One input of a program after its start, with the time that its clock shows from then on. */
export interface Delivery {
  readonly kind: "reply" | "failure" | "tick";
  /** Of the call or the timer. */
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

/** Records one program's inputs and replays the past ones. */
export interface Tape {
  /** Omitted for a program that never ran. */
  readonly start?: TapeStart;
  readonly past: readonly Delivery[];
  /** The engine that the past ran on, which continues; omitted for a program that never ran. */
  readonly engine?: EngineName;
  /** Nothing follows the past: the program is suspended once it has processed it. */
  readonly endsWithPast?: boolean;
  /**
   * Answers every request, so that neither the host nor a clock does: for a program that may do something else than
   * before. `repeat` is called first for a call. `wanted` is the time of a timer, and `nowMs` what the program's clock
   * shows; 0 before the first answer.
   */
  readonly improvise?: (kind: RequestKind, id: number, wanted: string, nowMs: number) => ImprovisedAnswer;
  /** The program's clock for new deliveries; by default the time of day. */
  readonly now?: () => number;
  /** Called when the program starts, for the first time or again. */
  began(start: TapeStart, engine: EngineName): void;
  /** Called when another engine has the program, before anything new happens. */
  switched?(engine: EngineName): void;
  /** Called for a call that the past answers. Throws if it is not the same call. */
  repeat(id: number, text: string): void;
  /** Called before a new delivery enters; it enters at once or when the promise resolves, in order. */
  keep(delivery: Delivery): Promise<void> | undefined;
}

export interface ImprovisedAnswer {
  readonly delivery: Delivery;
  /** Its place in the usual order of deliveries; `Infinity` if it has none and comes by its time. */
  readonly turn: number;
}

export interface TapePlayer {
  /** Whether the past answers this call or timer. */
  knows(kind: RequestKind, id: number): boolean;
  /** The program made this request; its answer comes in order. */
  ask(kind: RequestKind, id: number, wanted?: string): void;
  /** Runs `work` now, or once the past is over: nothing new happens before. */
  whenOver(work: () => void): void;
  isOver(): boolean;
}

/** The kind of a request; calls and timers are numbered separately. */
type RequestKind = "call" | "timer";

/** Calls `give` for each past delivery, once the program has requested it and all earlier ones were given. */
export function playTape(past: readonly Delivery[], give: (delivery: Delivery) => void): TapePlayer {
  const answered = new Set(past.map(requestOf));
  const requested = new Set<string>();
  const waiting: (() => void)[] = [];
  let at = 0;
  const go = (): void => {
    for (let next = past[at]; next && requested.has(requestOf(next)); next = past[at]) {
      at += 1;
      give(next);
    }
    if (at >= past.length) for (const work of waiting.splice(0)) work();
  };
  return {
    knows: (kind, id) => answered.size > 0 && answered.has(nameOf(kind, id)),
    ask(kind, id) {
      requested.add(nameOf(kind, id));
      go();
    },
    whenOver(work) {
      if (at >= past.length) work();
      else waiting.push(work);
    },
    isOver: () => at >= past.length,
  };
}

export interface LoosePlayer extends TapePlayer {
  /** Whether a PONG may still come. */
  readonly isPinged: boolean;
  /** Takes a PONG; false if none is due. */
  takePong(): boolean;
}

/**
 * Gives answers in their usual order as far as the program still asks for them. When it waits, which only the answer to
 * a PING proves, what it does not ask for is left out.
 */
export function playLoosely(
  improvise: NonNullable<Tape["improvise"]>,
  give: (delivery: Delivery) => void,
  ping: () => void,
): LoosePlayer {
  const waiting: ImprovisedAnswer[] = [];
  let next = 0;
  let nowMs = 0;
  let proof: "none" | "asked" | "outdated" = "none";
  const giveFirst = (): void => {
    const [answer] = waiting.splice(firstOf(waiting), 1);
    if (!answer) return;
    const { delivery, turn } = answer;
    if (Number.isFinite(turn)) next = Math.max(next, turn + 1);
    if (proof === "asked") proof = "outdated";
    nowMs = Math.max(nowMs, delivery.atMs);
    give({ ...delivery, atMs: nowMs });
  };
  const isDue = (): boolean => (waiting[firstOf(waiting)]?.turn ?? Infinity) <= next;
  const go = (): void => {
    while (isDue()) giveFirst();
    if (waiting.length === 0 || proof !== "none") return;
    proof = "asked";
    ping();
  };
  return {
    get isPinged() {
      return proof !== "none";
    },
    knows: () => true,
    ask(kind, id, wanted = "") {
      waiting.push(improvise(kind, id, wanted, nowMs));
      go();
    },
    takePong() {
      if (proof === "none") return false;
      const isIdle = proof === "asked";
      proof = "none";
      if (isIdle) giveFirst();
      go();
      return true;
    },
    whenOver: (work) => work(),
    isOver: () => true,
  };
}

/** The first in the usual order or by time, else the one that was asked for first. */
function firstOf(waiting: readonly ImprovisedAnswer[]): number {
  return waiting.reduce((best, answer, at) => (isBefore(answer, waiting[best]) ? at : best), 0);
}

function isBefore(one: ImprovisedAnswer, other: ImprovisedAnswer | undefined): boolean {
  if (!other) return true;
  const areUsual = Number.isFinite(one.turn) && Number.isFinite(other.turn);
  const early = one.delivery.atMs - other.delivery.atMs;
  return areUsual || early === 0 ? one.turn < other.turn : early < 0;
}

/** The program ended earlier than in its first run. */
export function endedEarly(): GloveboxError {
  return new GloveboxError("REPLAY_DIVERGED", "The program ended before it used all inputs of its first run", {
    hint: "Run it again from the start; what its calls changed stays changed",
  });
}

/** The request that a delivery answers. */
function requestOf({ kind, id }: Delivery): string {
  return nameOf(kind === "tick" ? "timer" : "call", id);
}

function nameOf(kind: RequestKind, id: number): string {
  return `${kind} ${id}`;
}
