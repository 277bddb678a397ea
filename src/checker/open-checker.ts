/**
 * Checks programs against the generated API. The check helps authors and is not a security boundary: a program that
 * cannot be checked runs, with a warning.
 *
 * The checker's process starts on demand, receives each set of declarations once, is killed when it is late or too
 * large, and is not restarted before a backoff after a failure.
 */

import type { ApiSurface, ChildKeeper, Instant } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { MINUTE_MS, backoffMs, createRecent } from "../timing/index.ts";
import { CHILD, startCheckerProcess } from "./start-process.ts";
import type { CheckerProcess } from "./start-process.ts";
import type { CheckerReply, CheckerRequest, Mistake } from "./wire.ts";

interface CheckerLimits {
  /** From the start of a process, or from new declarations, until it can check. */
  readonly prepareMs: number;
  readonly checkMs: number;
  readonly memoryBytes: number;
  /** Doubles with every failure in a row. */
  readonly backoffMs: number;
}

export interface CheckerOptions {
  /** The executable that runs the checker's process: the gateway's own. */
  readonly node: string;
  readonly keeper: ChildKeeper;
  readonly now: () => Instant;
  /** Resident bytes of a process and its children; `undefined` where the platform does not tell. */
  readonly measure: (pid: number) => number | undefined;
  /** Tests make these smaller. */
  readonly limits?: Partial<CheckerLimits>;
  /** The code of the process; tests pass their own. */
  readonly script?: string;
}

/** The author's TypeScript: offsets count in it. */
export interface CheckRequest {
  readonly text: string;
  readonly surface: ApiSurface;
}

/** `reason` is written for the author of the program. */
export type CheckResult =
  | { readonly kind: "checked"; readonly mistakes: readonly Mistake[] }
  | { readonly kind: "unchecked"; readonly reason: string };

export interface Checker extends AsyncDisposable {
  check(request: CheckRequest): Promise<CheckResult>;
  stats(): {
    /** Programs that reached the process; programs that the cache answered are not counted. */
    readonly asked: number;
    /** How often a process was started. */
    readonly starts: number;
    /** The pid of the process, or 0 while there is none. */
    readonly pid: number;
  };
}

/** Preparing takes a third of a second, or seconds on a busy machine; a check takes milliseconds. */
const LIMITS: CheckerLimits = { prepareMs: 15_000, checkMs: 2_000, memoryBytes: 512 * 1024 * 1024, backoffMs: 500 };
const KEPT_RESULTS = 256;
const WATCH_MS = 50;

const TOO_LONG = "The types were not checked: the check took too long";
const BROKEN = "The types were not checked: the checker ended and will be started again";
const WAITING = "The types were not checked: the checker failed a moment ago and is not started again yet";

/** Starts nothing; the first check does. */
export function openChecker(options: CheckerOptions): Checker {
  return new ProcessChecker(options);
}

class ProcessChecker implements Checker {
  readonly #options: CheckerOptions;
  readonly #limits: CheckerLimits;
  /** The declarations that the process has. */
  readonly #known = new Set<string>();
  readonly #results = createRecent<string, CheckResult>(KEPT_RESULTS);
  #child: CheckerProcess | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #notBefore: Instant = 0;
  #failuresInRow = 0;
  #ids = 0;
  #asked = 0;
  #starts = 0;

  constructor(options: CheckerOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  stats(): ReturnType<Checker["stats"]> {
    const child = this.#child;
    return { asked: this.#asked, starts: this.#starts, pid: child && !child.isGone ? child.pid : 0 };
  }

  check(request: CheckRequest): Promise<CheckResult> {
    // The same text against the same tools has the same result.
    const key = `${nameApi(request.surface)} ${digestOf(request.text)}`;
    const checked = this.#queue.then(() => this.#check(request, key));
    this.#queue = checked.catch(() => undefined);
    return checked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#child?.kill();
  }

  async #check(request: CheckRequest, key: string): Promise<CheckResult> {
    const before = this.#results.get(key);
    if (before) return before;
    const child = this.#findProcess();
    if (!child) return { kind: "unchecked", reason: WAITING };
    const outcome = await this.#askPrepared(child, request);
    const isChecked = outcome.kind === "checked";
    if (!isChecked || this.#isTooLarge(child)) await child.kill();
    this.#failuresInRow = isChecked ? 0 : this.#failuresInRow + 1;
    const waitMs = backoffMs(this.#failuresInRow, { firstMs: this.#limits.backoffMs, longestMs: MINUTE_MS });
    this.#notBefore = this.#options.now() + waitMs;
    const result: CheckResult = isChecked
      ? { kind: "checked", mistakes: outcome.mistakes }
      : { kind: "unchecked", reason: outcome.kind === "late" ? TOO_LONG : BROKEN };
    // Failures too: the same program would end the next process as well.
    this.#results.set(key, result);
    return result;
  }

  #findProcess(): CheckerProcess | undefined {
    if (this.#child && !this.#child.isGone) return this.#child;
    if (this.#isClosed || this.#options.now() < this.#notBefore) return undefined;
    this.#known.clear();
    this.#starts += 1;
    this.#child = startCheckerProcess({ ...this.#options, script: this.#options.script ?? CHILD });
    return this.#child;
  }

  async #askPrepared(child: CheckerProcess, { text, surface }: CheckRequest): Promise<CheckOutcome> {
    const api = nameApi(surface);
    const isNew = !this.#known.has(api);
    if (isNew) {
      this.#known.add(api);
      // With an empty program, so that parsing the declarations does not count against a program's time.
      const { declarations } = surface;
      const prepared = await this.#ask(child, { api, declarations, text: "" }, this.#limits.prepareMs);
      if (prepared.kind !== "checked") return prepared;
    }
    this.#asked += 1;
    const outcome = await this.#ask(child, { api, text }, this.#limits.checkMs);
    if (outcome.kind !== "unknownApi") return outcome;
    this.#known.delete(api);
    return isNew ? { kind: "gone" } : this.#askPrepared(child, { text, surface });
  }

  /** Kills a process that uses too much memory before it replies. */
  async #ask(child: CheckerProcess, request: Omit<CheckerRequest, "id">, ms: number): Promise<CheckOutcome> {
    this.#ids += 1;
    const late = Promise.withResolvers<CheckOutcome>();
    const timer = setTimeout(() => late.resolve({ kind: "late" }), ms);
    const watcher = setInterval(() => void (this.#isTooLarge(child) && child.kill()), WATCH_MS);
    const reply = child.ask({ id: this.#ids, ...request }).catch((): CheckOutcome => ({ kind: "gone" }));
    try {
      return await Promise.race([reply, late.promise]);
    } finally {
      clearTimeout(timer);
      clearInterval(watcher);
    }
  }

  #isTooLarge({ pid }: CheckerProcess): boolean {
    return (this.#options.measure(pid) ?? 0) > this.#limits.memoryBytes;
  }
}

type CheckOutcome = CheckerReply | { readonly kind: "late" | "gone" };

/** Equal names mean equal declarations. */
function nameApi({ snapshot, part = "", secrets = [] }: ApiSurface): string {
  return [snapshot, part, secrets.map((name) => `secrets.${name}`).join(" ")].filter((text) => text !== "").join(" ");
}
