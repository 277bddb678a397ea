/** Counts the crashes of one server and says when they are too many to go on by itself. */

import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, Instant } from "../domain/index.ts";

const MAX_CRASHES = 5;
const WINDOW_MS = 5 * 60_000;

interface Crash {
  readonly at: Instant;
  readonly fact: string;
}

/** Keeps no more than it takes to decide. */
export class CrashLog {
  readonly #id: ConnectorId;
  #crashes: readonly Crash[] = [];

  constructor(id: ConnectorId) {
    this.#id = id;
  }

  add(error: GloveboxError, at: Instant): void {
    const prefix = `${this.#id}: `;
    const fact = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
    this.#crashes = [...this.#crashes, { at, fact }].slice(-MAX_CRASHES);
  }

  clear(): void {
    this.#crashes = [];
  }

  /** What to tell everybody from now on, once five crashes are less than five minutes apart. */
  verdict(now: Instant): GloveboxError | undefined {
    const recent = this.#crashes.filter(({ at }) => now - at < WINDOW_MS);
    if (recent.length < MAX_CRASHES) return undefined;
    const counted = Map.groupBy(recent, ({ fact }) => fact);
    const evidence = [...counted].map(([fact, { length }]) => (length === 1 ? fact : `${fact}, ${length} times`));
    const minutes = WINDOW_MS / 60_000;
    const message = `${this.#id}: suspended after ${MAX_CRASHES} crashes within ${minutes} minutes (${evidence.join("; ")})`;
    return new GloveboxError("UPSTREAM_UNREACHABLE", message, {
      hint: `When its trouble is mended, an operator starts it again with \`glovebox servers restart ${this.#id}\``,
    });
  }
}
