/** When one program asks for another engine: it has computed for some time, or needs what only the other one has. */

import { SWITCH_TO_COMPUTE } from "../../wire.ts";
import type { EngineAnswer, RequestEngine, Switching } from "../realm.ts";

/** The other engine would have to repeat each message, so a program with many calls computes for longer here. */
const REPEAT_MS = 0.1;

const NEVER: EngineAnswer = { kind: "continue", againMs: Infinity };

export class EngineRequests {
  readonly #request: RequestEngine | undefined;
  #mayAsk = false;
  #startedAt = 0;
  #startCpuUs = 0;
  #afterMs = Infinity;
  #atStep: number | undefined;
  #steps = 0;
  #isEnded = false;

  constructor(request: RequestEngine | undefined) {
    this.#request = request;
  }

  /** The program has to end: another engine has it. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  start(switching: Switching): void {
    if (!switching) return;
    this.#mayAsk = true;
    this.#startedAt = performance.now();
    this.#startCpuUs = readCpuUs();
    this.#afterMs = switching.afterMs;
    this.#atStep = switching.atStep;
    this.step();
  }

  /** Call it for every frame and every interrupt of the program. */
  step(): void {
    if (this.#steps === this.#atStep) this.ask("step");
    this.#steps += 1;
  }

  /** Call it for every message to and from the program. */
  exchange(): void {
    this.#afterMs += REPEAT_MS;
  }

  /** Call it while the program computes. */
  interrupt(): void {
    if (!this.#mayAsk) return;
    this.step();
    // The processor time is at most the time since the start, which costs less to read.
    if (performance.now() - this.#startedAt < this.#afterMs) return;
    if ((readCpuUs() - this.#startCpuUs) / 1_000 >= this.#afterMs) this.ask(SWITCH_TO_COMPUTE);
  }

  /** Returns when the program may continue here, or has to end. */
  ask(reason: string): void {
    if (!this.#mayAsk || this.#isEnded) return;
    const answer = this.#request?.(reason) ?? NEVER;
    if (answer.kind === "end") this.#isEnded = true;
    else if (answer.againMs === Infinity) this.#mayAsk = false;
    else this.#afterMs = (readCpuUs() - this.#startCpuUs) / 1_000 + answer.againMs;
  }
}

/** Of the thread that runs programs, without those that compile the engine. */
function readCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
