/**
 * Spares everybody the waiting for a server that does not answer: after several calls in a row that failed on the way,
 * further calls fail at once for a while; then a single one may try.
 */

import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, Instant } from "../domain/index.ts";

const MAX_FAILURES = 5;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;
/** A caller can set its own time limit; one that waited less than this has learned nothing about the server. */
const FAIR_WAIT_MS = 2000;

export interface BreakerOptions {
  readonly id: ConnectorId;
  readonly now: () => Instant;
}

/** One call on its way; exactly one of its methods is called, once. */
export interface Passage {
  /** The server answered, be it with a refusal. */
  answered(): void;
  /** The call failed on the way. Any other code than a lost connection or a timeout says nothing about the server. */
  failed(error: GloveboxError): void;
}

/** Successes and failures of all callers count together: it is the server that is judged. */
export class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #openUntil: Instant | undefined;
  #isProbing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Rejects during a pause, and after it while the one call that tries is under way. */
  enter(): Passage {
    const startedAt = this.#options.now();
    const isProbe = this.#openUntil !== undefined;
    if (this.#openUntil !== undefined) this.#check(this.#openUntil, startedAt);
    this.#isProbing = isProbe;
    return {
      answered: () => this.reset(),
      failed: ({ code }) => {
        if (isProbe) this.#isProbing = false;
        // Calls that were under way when the pause began make it no longer.
        else if (this.#openUntil !== undefined) return;
        const waitedMs = this.#options.now() - startedAt;
        const isTelling = code === "UPSTREAM_UNREACHABLE" || (code === "UPSTREAM_TIMEOUT" && waitedMs >= FAIR_WAIT_MS);
        if (isTelling) this.#count();
      },
    };
  }

  reset(): void {
    this.#failures = 0;
    this.#openUntil = undefined;
    this.#isProbing = false;
  }

  #check(openUntil: Instant, now: Instant): void {
    if (now >= openUntil && !this.#isProbing) return;
    const seconds = Math.max((openUntil - now) / 1000, 0.1).toFixed(1);
    const message = `${this.#options.id}: the last ${this.#failures} calls got no answer; the next try is in ${seconds} s`;
    throw new GloveboxError("UPSTREAM_UNREACHABLE", message, { hint: "Try again later, or do without this upstream" });
  }

  #count(): void {
    this.#failures += 1;
    const over = this.#failures - MAX_FAILURES;
    if (over < 0) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** over, LONGEST_PAUSE_MS);
    this.#openUntil = this.#options.now() + pauseMs;
  }
}
