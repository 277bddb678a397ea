/**
 * The states of one upstream connection: idle, connecting, ready, failed, suspended, closed. There is one attempt to
 * connect at a time, shared by all callers. After failures a pause that doubles, so that a broken server is not started
 * in a loop; after repeated crashes no attempt at all until an operator restarts it. Independent of any protocol.
 */

import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, Instant, UpstreamStatus } from "../domain/index.ts";
import { MINUTE_MS, NEVER, backoffMs } from "../timing/index.ts";

import { closedError, toFact, waitFor } from "./upstream-error.ts";

const PAUSE = { firstMs: 250, longestMs: 30_000 };
/** So many crashes within this time suspend the upstream. */
const MAX_CRASHES = 5;
const CRASH_MINUTES = 5;

interface LifecycleOptions<Link> {
  readonly id: ConnectorId;
  /** Must reject when the signal fires, and then end whatever it had started. */
  readonly open: (closing: AbortSignal) => Promise<Link>;
  /** True for a failure that means that the process ended by itself. Without it an upstream is never suspended. */
  readonly isCrash?: (error: GloveboxError) => boolean;
  readonly now: () => Instant;
  /** Called after each change of state. Must not throw. */
  readonly onState?: ((state: UpstreamStatus["state"]) => void) | undefined;
}

type ConnectionState<Link> =
  | { readonly kind: "idle" | "closed" }
  | { readonly kind: "connecting"; readonly attempt: Promise<Link> }
  | { readonly kind: "ready"; readonly link: Link }
  | { readonly kind: "failed"; readonly error: GloveboxError; readonly retryAt: Instant }
  | { readonly kind: "suspended"; readonly error: GloveboxError };

/** The count of failures is reset by an answered call only, so a server that starts well and dies at each call is slowed down too. */
export class Lifecycle<Link> {
  readonly #options: LifecycleOptions<Link>;
  readonly #closing = new AbortController();
  /** The latest ones. */
  #crashes: readonly { readonly at: Instant; readonly fact: string }[] = [];
  #state: ConnectionState<Link> = { kind: "idle" };
  #since: Instant;
  #failures = 0;
  /** The latest failure. It is kept while the next attempt is in progress. */
  #error: GloveboxError | undefined;

  constructor(options: LifecycleOptions<Link>) {
    this.#options = options;
    this.#since = options.now();
  }

  /** Fires when the connector is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Returns the live connection or opens one. Rejects at once during a pause, with the time of the next attempt. When
   * `signal` fires only this caller stops waiting: the attempt continues for the others.
   */
  reach(signal: AbortSignal = NEVER): Promise<Link> {
    return waitFor(this.#reach(), signal, this.#options.id);
  }

  /** Returns the live connection, or `undefined` if there is none or the caller has stopped waiting. */
  connected(signal: AbortSignal): Link | undefined {
    return this.#state.kind === "ready" && !signal.aborted ? this.#state.link : undefined;
  }

  /** Reports that a connection cannot be used any more. Without effect if another one has replaced it. */
  lose(link: Link, error: GloveboxError): void {
    if (this.#isCurrent(link)) this.#fail(error, true);
  }

  /** Reports that the connection answered a call, which resets the count of failures. */
  prove(link: Link): void {
    if (this.#isCurrent(link)) this.#failures = 0;
  }

  /**
   * Forgets every failure; the next use connects at once. Returns the connection that it dropped, which the caller must
   * end. An attempt in progress continues.
   */
  restart(): Link | undefined {
    const state = this.#state;
    this.#failures = 0;
    this.#crashes = [];
    this.#error = undefined;
    if (state.kind !== "closed" && state.kind !== "connecting") this.#enter({ kind: "idle" });
    return state.kind === "ready" ? state.link : undefined;
  }

  view() {
    return { state: this.#state.kind, since: this.#since, error: this.#error };
  }

  /** Final: ends an attempt in progress and refuses every later use. */
  close(): void {
    if (this.#state.kind === "closed") return;
    this.#error = undefined;
    this.#enter({ kind: "closed" });
    this.#closing.abort(closedError(this.#options.id));
  }

  async #reach(): Promise<Link> {
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
        checkPause(state.error, state.retryAt - this.#options.now());
        return this.#start();
      case "idle":
        return this.#start();
      default:
        return state satisfies never;
    }
  }

  #isCurrent(link: Link): boolean {
    return this.#state.kind === "ready" && this.#state.link === link;
  }

  #enter(next: ConnectionState<Link>): void {
    this.#state = next;
    this.#since = this.#options.now();
    this.#options.onState?.(next.kind);
  }

  #start(): Promise<Link> {
    const attempt = Promise.resolve().then(() => this.#attempt());
    // Callers may stop waiting. An attempt without a caller must not become an unhandled rejection.
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
      const message = `${this.#options.id}: connecting failed unexpectedly`;
      const isOwn = thrown instanceof GloveboxError;
      const error = isOwn ? thrown : new GloveboxError("INTERNAL_BUG", message, { cause: thrown });
      if (this.#state.kind === "connecting") this.#fail(error, false);
      throw thrown;
    }
  }

  /** The first loss of a working connection has no pause; a connection that never opened has one from the start. */
  #fail(error: GloveboxError, wasReady: boolean): void {
    const { id, now, isCrash } = this.#options;
    const at = now();
    if (isCrash?.(error)) this.#crashes = [...this.#crashes, { at, fact: toFact(error, id) }].slice(-MAX_CRASHES);
    const suspension = this.#findSuspension(at);
    this.#error = suspension ?? error;
    if (suspension) return this.#enter({ kind: "suspended", error: suspension });
    this.#failures += 1;
    const pauseMs = backoffMs(this.#failures - (wasReady ? 1 : 0), PAUSE);
    this.#enter({ kind: "failed", error, retryAt: at + pauseMs });
  }

  /** Returns the error for every later use once there were too many crashes, with what happened as evidence. */
  #findSuspension(now: Instant): GloveboxError | undefined {
    const { id } = this.#options;
    const recent = this.#crashes.filter(({ at }) => now - at < CRASH_MINUTES * MINUTE_MS);
    if (recent.length < MAX_CRASHES) return undefined;
    const counted = Map.groupBy(recent, ({ fact }) => fact);
    const evidence = [...counted].map(([fact, { length }]) => (length === 1 ? fact : `${fact}, ${length} times`));
    const message = `${id}: suspended after ${MAX_CRASHES} crashes within ${CRASH_MINUTES} minutes (${evidence.join("; ")})`;
    const hint = `Fix the server, then run \`glovebox servers restart ${id}\``;
    return new GloveboxError("UPSTREAM_UNREACHABLE", message, { hint });
  }
}

/** Keeps the code of the failure, so that a missing credential is still recognized as one. */
function checkPause(error: GloveboxError, leftMs: number): void {
  if (leftMs <= 0) return;
  const seconds = Math.max(leftMs / 1000, 0.1).toFixed(1);
  throw new GloveboxError(error.code, `${error.message}; the next try is in ${seconds} s`, error.details);
}
