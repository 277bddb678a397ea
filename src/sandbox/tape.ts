/**
 * What enters a program, in its order. A guest has no other input, so the same program that is given the same
 * deliveries in the same order does the same again: an execution can be set aside, brought back and shown again.
 */

import { GloveboxError } from "../domain/index.ts";

/** Where a program begins: chance and time. */
export interface TapeStart {
  /** Four 32-bit numbers for its random values. */
  readonly seed: readonly number[];
  readonly atMs: number;
}

/** One thing that a program is given after its start, with the time that its clock shows from then on. */
export interface Delivery {
  readonly kind: "reply" | "failure" | "tick";
  /** Of the call or the timer. */
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

/** Remembers one program, and leads it through what it was given before. */
export interface Tape {
  /** Left out for a program that never ran. */
  readonly start?: TapeStart;
  readonly past: readonly Delivery[];
  /** Nothing follows the past: a program that has done what it can with it is put away. */
  readonly endsWithPast?: boolean;
  /** What the program's clock shows when something new enters; left out, the time of day. */
  readonly now?: () => number;
  /** The program begins, for the first time or again. */
  began(start: TapeStart): void;
  /** A call comes that the past has the answer to. Throws when it is not the call that was answered then. */
  repeat(id: number, text: string): void;
  /** Something new is about to enter: at once, or when this resolves, which it does in the order of its calls. */
  keep(delivery: Delivery): Promise<void> | undefined;
}

export interface TapePlayer {
  /** True when the past answers this call or timer. */
  knows(kind: RequestKind, id: number): boolean;
  /** The program has asked for it: it comes in its turn. */
  ask(kind: RequestKind, id: number): void;
  /** Does it now, or once the past is over: nothing new happens before. */
  whenOver(work: () => void): void;
  isOver(): boolean;
}

/** What a program asks for: calls and timers are numbered apart. */
export type RequestKind = "call" | "timer";

/** `give` hands each delivery of the past on, once the program has asked for it and all before it were given. */
export function playTape(past: readonly Delivery[], give: (delivery: Delivery) => void): TapePlayer {
  const answered = new Set(past.map((delivery) => nameOf(askedBy(delivery), delivery.id)));
  const seen = new Set<string>();
  const waiting: (() => void)[] = [];
  let at = 0;
  const go = (): void => {
    for (let next = past[at]; next && seen.has(nameOf(askedBy(next), next.id)); next = past[at]) {
      at += 1;
      give(next);
    }
    if (at >= past.length) for (const work of waiting.splice(0)) work();
  };
  return {
    knows: (kind, id) => answered.has(nameOf(kind, id)),
    ask(kind, id) {
      seen.add(nameOf(kind, id));
      go();
    },
    whenOver(work) {
      if (at >= past.length) work();
      else waiting.push(work);
    },
    isOver: () => at >= past.length,
  };
}

/** The program ended where an earlier run of it went on. */
export function endedEarly(): GloveboxError {
  return new GloveboxError("REPLAY_DIVERGED", "The program ended before it took all that it was given the first time", {
    hint: "Run it again from the start; what its calls changed stays changed",
  });
}

function askedBy({ kind }: Delivery): RequestKind {
  return kind === "tick" ? "timer" : "call";
}

function nameOf(kind: RequestKind, id: number): string {
  return `${kind} ${id}`;
}
