/** Answers the calls and timers of one program: from its past, or by the host. */

import { GloveboxError } from "../../domain/index.ts";
import type { Reply } from "../../domain/index.ts";

import type { SandboxJob } from "../sandbox.ts";
import type { Delivery, TapePlayer } from "../tape.ts";
import { toFatal } from "./parse-reports.ts";
import type { ProgramHistory } from "./program-history.ts";
import { createTimers } from "./program-watch.ts";

export interface RequestOptions {
  readonly job: SandboxJob;
  readonly history: ProgramHistory;
  /** The present one: a new child has a new player. */
  readonly player: () => TapePlayer;
  /** The age of the program. */
  readonly elapsedMs: () => number;
  readonly answer: (kind: Delivery["kind"], id: number, text: string) => void;
  readonly fail: (error: GloveboxError) => void;
}

export class ProgramRequests {
  readonly #options: RequestOptions;
  readonly #timers: ReturnType<typeof createTimers>;
  /** Calls of the present child. */
  #calls = 0;
  /** The number of the last timer. */
  #lastTimer = 0;
  /** Calls that the host has not answered. */
  #openCalls = 0;

  constructor(options: RequestOptions) {
    this.#options = options;
    const { job, answer } = options;
    this.#timers = createTimers(job.limits, (id) => answer("tick", id, ""), job.onTimers);
  }

  /** Whether the program has open requests, and all of them are timers and calls that wait for people. */
  get areWaits(): boolean {
    const people = this.#options.job.waits?.forPeople() ?? 0;
    return people + this.#timers.open() > 0 && this.#openCalls === people;
  }

  /** A new child numbers its calls from 1. */
  startOver(): void {
    this.#calls = 0;
  }

  stop(): void {
    this.#timers.stop();
  }

  call(id: number, text: string): void {
    this.#calls += 1;
    // The guest numbers its calls; a wrong number means that the child no longer follows the protocol.
    if (id !== this.#calls) {
      throw new GloveboxError("SANDBOX_CRASHED", `Call ${id} came in the place of call ${this.#calls}`);
    }
    const cut = text.indexOf("\n");
    if (cut < 0) throw new GloveboxError("SANDBOX_CRASHED", `Call ${id} has no arguments`);
    const { history, player } = this.#options;
    const { tape } = this.#options.job;
    const isRepeated = id <= history.calls;
    if (isRepeated) history.checkCall(id, text);
    else history.addCall(text);
    if (player().knows("call", id)) {
      if (!isRepeated) tape?.repeat(id, text);
      return player().ask("call", id);
    }
    if (isRepeated) return; // the host has it already
    player().whenOver(() => this.#callHost(id, text.slice(0, cut), text.slice(cut + 1)));
  }

  #callHost(id: number, address: string, args: string): void {
    const { job, answer, fail } = this.#options;
    this.#openCalls += 1;
    const onReply = (reply: Reply): void => {
      this.#openCalls -= 1;
      if (reply.ok) answer("reply", id, reply.json);
      else answer("failure", id, JSON.stringify(reply.error));
    };
    job.host.call(address, args, id).then(onReply, (thrown: unknown) => fail(toFatal(thrown)));
  }

  /** `wanted` is untrusted. */
  startTimer(id: number, wanted: string): void {
    const { elapsedMs, history, player } = this.#options;
    const isRepeated = id <= this.#lastTimer;
    if (!isRepeated) {
      this.#lastTimer = id;
      history.addTimer(id, wanted);
    }
    if (player().knows("timer", id)) return player().ask("timer", id, wanted);
    if (isRepeated) return; // it runs, or its tick waits for the program's place
    this.#timers.checkRoom();
    player().whenOver(() => this.#timers.start(id, Number(wanted), elapsedMs()));
  }
}
