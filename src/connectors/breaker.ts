/**
 * A circuit breaker: after several calls in a row without an answer, further calls fail at once for a while instead of
 * waiting for a server that does not respond; then a single call may try.
 */

import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, Instant } from "../domain/index.ts";
import { backoffMs } from "../timing/index.ts";

const MAX_FAILURES = 5;
const PAUSE = { firstMs: 5_000, longestMs: 60_000 };
/** A caller can set its own time limit. One that waited less than this has learned nothing about the server. */
const FAIR_WAIT_MS = 2_000;

/** Counts the failures of all callers together, because it judges the server. */
export class Breaker {
  readonly #id: ConnectorId;
  readonly #now: () => Instant;
  #failures = 0;
  #openUntil: Instant | undefined;
  #isProbing = false;

  constructor({ id, now }: { readonly id: ConnectorId; readonly now: () => Instant }) {
    this.#id = id;
    this.#now = now;
  }

  /**
   * Throws during a pause, and after it while the one call that tries is in progress. Exactly one of the returned
   * functions must be called, once.
   */
  enter() {
    const startedAt = this.#now();
    const openUntil = this.#openUntil;
    const isProbe = openUntil !== undefined;
    if (isProbe && (startedAt < openUntil || this.#isProbing)) {
      const seconds = Math.max((openUntil - startedAt) / 1000, 0.1).toFixed(1);
      const message = `${this.#id}: the last ${this.#failures} calls got no answer; the next try is in ${seconds} s`;
      const hint = "Try again later, or do without this upstream";
      throw new GloveboxError("UPSTREAM_UNREACHABLE", message, { hint });
    }
    this.#isProbing = isProbe;
    return {
      /** The server answered, even if it refused the call. */
      answered: () => this.reset(),
      /** The call got no answer. Codes other than a lost connection or a timeout do not count against the server. */
      failed: ({ code }: GloveboxError): void => {
        if (isProbe) this.#isProbing = false;
        // Calls that were in progress when the pause began do not extend it.
        else if (this.#openUntil !== undefined) return;
        const now = this.#now();
        const wasFair = now - startedAt >= FAIR_WAIT_MS;
        if (code !== "UPSTREAM_UNREACHABLE" && !(code === "UPSTREAM_TIMEOUT" && wasFair)) return;
        this.#failures += 1;
        const pauseMs = backoffMs(this.#failures - MAX_FAILURES + 1, PAUSE);
        if (pauseMs > 0) this.#openUntil = now + pauseMs;
      },
    };
  }

  reset(): void {
    this.#failures = 0;
    this.#openUntil = undefined;
    this.#isProbing = false;
  }
}
