/**
 * The states of one upstream connection: idle, connecting, ready, failed, suspended, closed. One attempt at a time,
 * shared by all who wait for it; after failures a pause that doubles, so that a broken server is not started in a loop;
 * after repeated crashes nothing more until a person says so. It knows nothing about protocols.
 */

import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, Instant, UpstreamStatus } from "../domain/index.ts";

import { CrashLog } from "./crash-log.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

export interface LifecycleOptions<Link> {
  readonly id: ConnectorId;
  /** Must reject when the signal fires; what it had begun is its own to end. */
  readonly open: (closing: AbortSignal) => Promise<Link>;
  /** True for failures that mean that a process ended by itself; without it nothing is ever suspended. */
  readonly isCrash?: (error: GloveboxError) => boolean;
  readonly now: () => Instant;
  /** Hears each new state after it has been entered. Must not throw. */
  readonly onState?: (state: UpstreamStatus["state"]) => void;
}

type State<Link> =
  | { readonly kind: "idle" | "closed" }
  | { readonly kind: "connecting"; readonly attempt: Promise<Link> }
  | { readonly kind: "ready"; readonly link: Link }
  | { readonly kind: "failed"; readonly error: GloveboxError; readonly retryAt: Instant }
  | { readonly kind: "suspended"; readonly error: GloveboxError };

export interface LifecycleView {
  readonly state: UpstreamStatus["state"];
  readonly since: Instant;
  /** The latest failure; it stays while the next attempt is under way. */
  readonly error: GloveboxError | undefined;
}

/** Failures count up until a call was answered, so a server that starts well and dies at each call is slowed down too. */
export class Lifecycle<Link> {
  readonly #options: LifecycleOptions<Link>;
  readonly #closing = new AbortController();
  readonly #crashes: CrashLog;
  #state: State<Link> = { kind: "idle" };
  #since: Instant;
  #failures = 0;
  #error: GloveboxError | undefined;

  constructor(options: LifecycleOptions<Link>) {
    this.#options = options;
    this.#crashes = new CrashLog(options.id);
    this.#since = options.now();
  }

  /** The live connection, or a new one; during a pause it rejects at once and says when the next try is. */
  async reach(): Promise<Link> {
    const state = this.#state;
    switch (state.kind) {
      case "ready":
        return state.link;
      case "connecting":
        return state.attempt;
      case "closed":
        throw closedError(this.#options.id);
      case "suspended":
        throw state.error;
      case "failed":
        this.#checkPause(state.error, state.retryAt);
        return this.#start();
      case "idle":
        return this.#start();
      default:
        return state satisfies never;
    }
  }

  /** The connection is of no use any more. Without effect when another one has taken its place. */
  lose(link: Link, error: GloveboxError): void {
    if (this.#isCurrent(link)) this.#fail(error, true);
  }

  /** The connection has answered a call: its next failure starts counting anew. */
  prove(link: Link): void {
    if (this.#isCurrent(link)) this.#failures = 0;
  }

  /**
   * Forgets every failure; the next use connects at once. Returns the connection that it lets go of, for its owner to
   * end. An attempt under way goes on.
   */
  restart(): Link | undefined {
    const state = this.#state;
    this.#failures = 0;
    this.#crashes.clear();
    this.#error = undefined;
    if (state.kind !== "closed" && state.kind !== "connecting") this.#enter({ kind: "idle" });
    return state.kind === "ready" ? state.link : undefined;
  }

  view(): LifecycleView {
    return { state: this.#state.kind, since: this.#since, error: this.#error };
  }

  /** Final: ends an attempt under way and refuses everything later. */
  close(): void {
    if (this.#state.kind === "closed") return;
    this.#error = undefined;
    this.#enter({ kind: "closed" });
    this.#closing.abort(closedError(this.#options.id));
  }

  #isCurrent(link: Link): boolean {
    return this.#state.kind === "ready" && this.#state.link === link;
  }

  #enter(next: State<Link>): void {
    this.#state = next;
    this.#since = this.#options.now();
    this.#options.onState?.(next.kind);
  }

  #checkPause(error: GloveboxError, retryAt: Instant): void {
    const leftMs = retryAt - this.#options.now();
    if (leftMs > 0) throw waitingError(error, leftMs);
  }

  #start(): Promise<Link> {
    const attempt = Promise.resolve().then(() => this.#attempt());
    // Callers may stop waiting; an attempt that nobody awaits any more must not count as an unhandled rejection.
    attempt.catch(() => undefined);
    this.#enter({ kind: "connecting", attempt });
    return attempt;
  }

  async #attempt(): Promise<Link> {
    try {
      const link = await this.#options.open(this.#closing.signal);
      if (this.#state.kind === "connecting") {
        this.#error = undefined;
        this.#enter({ kind: "ready", link });
      }
      return link;
    } catch (thrown) {
      if (this.#state.kind === "connecting") this.#fail(toGloveboxError(thrown, this.#options.id), false);
      throw thrown;
    }
  }

  /** A connection that worked may come back at once the first time; one that never came up has to wait. */
  #fail(error: GloveboxError, wasReady: boolean): void {
    const now = this.#options.now();
    if (this.#options.isCrash?.(error) === true) this.#crashes.add(error, now);
    const suspension = this.#crashes.verdict(now);
    this.#error = suspension ?? error;
    if (suspension) return this.#enter({ kind: "suspended", error: suspension });
    this.#failures += 1;
    const doublings = this.#failures - (wasReady ? 2 : 1);
    const pauseMs = doublings < 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** doublings, LONGEST_PAUSE_MS);
    this.#enter({ kind: "failed", error, retryAt: now + pauseMs });
  }
}

/** Keeps the code of the failure, so that a missing credential still reads as one. */
function waitingError(error: GloveboxError, leftMs: number): GloveboxError {
  const seconds = Math.max(leftMs / 1000, 0.1).toFixed(1);
  return new GloveboxError(error.code, `${error.message}; the next try is in ${seconds} s`, error.details);
}

/** What a call meets once its connector was closed, under way or new. */
export function closedError(id: ConnectorId): GloveboxError {
  return new GloveboxError("UPSTREAM_UNREACHABLE", `${id}: the connection was closed by Glovebox`, {
    hint: "The upstream was removed or Glovebox is shutting down",
  });
}

function toGloveboxError(thrown: unknown, id: ConnectorId): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown;
  return new GloveboxError("INTERNAL_BUG", `${id}: connecting failed unexpectedly`, { cause: thrown });
}
