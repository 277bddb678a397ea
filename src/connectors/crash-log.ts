/** Counts the crashes of one server and decides when it is not started again without an operator. */

import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, Instant } from "../domain/index.ts";
import { MINUTE_MS } from "../timing/index.ts";

import { toFact } from "./upstream-error.ts";

const MAX_CRASHES = 5;
const WINDOW_MINUTES = 5;

interface Crash {
  readonly at: Instant;
  readonly fact: string;
}

/** Keeps the latest five crashes. */
export class CrashLog {
  readonly #id: ConnectorId;
  #crashes: readonly Crash[] = [];

  constructor(id: ConnectorId) {
    this.#id = id;
  }

  add(error: GloveboxError, at: Instant): void {
    this.#crashes = [...this.#crashes, { at, fact: toFact(error, this.#id) }].slice(-MAX_CRASHES);
  }

  clear(): void {
    this.#crashes = [];
  }

  /** Returns the error for every later use once five crashes happened within five minutes. */
  verdict(now: Instant): GloveboxError | undefined {
    const recent = this.#crashes.filter(({ at }) => now - at < WINDOW_MINUTES * MINUTE_MS);
    if (recent.length < MAX_CRASHES) return undefined;
    const counted = Map.groupBy(recent, ({ fact }) => fact);
    const evidence = [...counted].map(([fact, { length }]) => (length === 1 ? fact : `${fact}, ${length} times`));
    const message = `${this.#id}: suspended after ${MAX_CRASHES} crashes within ${WINDOW_MINUTES} minutes (${evidence.join("; ")})`;
    return new GloveboxError("UPSTREAM_UNREACHABLE", message, {
      hint: `Fix the server, then run \`glovebox servers restart ${this.#id}\``,
    });
  }
}
