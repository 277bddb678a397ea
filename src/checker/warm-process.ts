/**
 * Keeps the checker's process warm. It starts on demand, receives each set of declarations once, is killed when it is
 * late or too large, and is not restarted before a backoff after a failure.
 */

import type { ApiSurface, ChildKeeper, Instant } from "../domain/index.ts";
import { MINUTE_MS, backoffMs } from "../timing/index.ts";
import { CHILD, startCheckerProcess } from "./start-process.ts";
import type { CheckerProcess } from "./start-process.ts";
import type { CheckerReply } from "./wire.ts";

export interface CheckerLimits {
  /** From the start of a process, or from new declarations, until it can check. */
  readonly prepareMs: number;
  readonly checkMs: number;
  readonly memoryBytes: number;
  /** Doubles with every failure in a row. */
  readonly backoffMs: number;
}

export interface ProcessOptions {
  /** The executable that runs the checker's process: the gateway's own. */
  readonly node: string;
  readonly keeper: ChildKeeper;
  readonly now: () => Instant;
  /** Resident bytes of a process and its children; `undefined` where the platform does not tell. */
  readonly measure: (pid: number) => number | undefined;
  readonly limits: CheckerLimits;
  /** The code of the process; tests pass their own. */
  readonly script?: string;
}

/** `waiting` means that the backoff after a failure is not over. */
export type CheckOutcome = CheckerReply | { readonly kind: "late" | "gone" | "waiting" };

export interface WarmProcess {
  /** One request at a time. After any outcome except a reply the process is gone. */
  ask(text: string, surface: ApiSurface): Promise<CheckOutcome>;
  stats(): { readonly asked: number; readonly starts: number; readonly pid: number };
  close(): Promise<void>;
}

const LONGEST_BACKOFF_MS = MINUTE_MS;
const WATCH_MS = 50;

interface ProcessState {
  child: CheckerProcess | undefined;
  isClosed: boolean;
  ids: number;
  asked: number;
  starts: number;
  /** In a row. */
  failures: number;
  notBefore: Instant;
}

export function createWarmProcess(options: ProcessOptions): WarmProcess {
  const { limits, now } = options;
  const known = new Set<string>();
  const state: ProcessState = {
    child: undefined,
    isClosed: false,
    ids: 0,
    asked: 0,
    starts: 0,
    failures: 0,
    notBefore: 0,
  };

  function findChild(): CheckerProcess | undefined {
    if (state.child && !state.child.isGone) return state.child;
    if (state.isClosed || now() < state.notBefore) return undefined;
    known.clear();
    state.starts += 1;
    state.child = startCheckerProcess({ ...options, script: options.script ?? CHILD });
    return state.child;
  }

  /** Sends the declarations with an empty program, so that parsing them does not count against a program's time. */
  async function prepare(child: CheckerProcess, surface: ApiSurface): Promise<CheckOutcome> {
    const { declarations } = surface;
    const api = nameApi(surface);
    known.add(api);
    state.ids += 1;
    return watch(child, child.ask({ id: state.ids, api, declarations, text: "" }), limits.prepareMs, options);
  }

  async function check(child: CheckerProcess, text: string, surface: ApiSurface): Promise<CheckOutcome> {
    const api = nameApi(surface);
    const prepared = known.has(api) ? undefined : await prepare(child, surface);
    if (prepared && prepared.kind !== "checked") return prepared;
    state.ids += 1;
    state.asked += 1;
    const answered = child.ask({ id: state.ids, api, text });
    const outcome = await watch(child, answered, limits.checkMs, options);
    if (outcome.kind !== "unknownApi") return outcome;
    known.delete(api);
    return prepared ? { kind: "gone" } : check(child, text, surface);
  }

  async function settle(child: CheckerProcess, outcome: CheckOutcome): Promise<CheckOutcome> {
    const isAnswered = outcome.kind === "checked";
    if (!isAnswered || isTooLarge(child, options)) await child.kill();
    state.failures = isAnswered ? 0 : state.failures + 1;
    state.notBefore = now() + backoffMs(state.failures, { firstMs: limits.backoffMs, longestMs: LONGEST_BACKOFF_MS });
    return outcome;
  }

  return {
    stats: () => toStats(state),
    async ask(text, surface) {
      const child = findChild();
      return child ? settle(child, await check(child, text, surface)) : { kind: "waiting" };
    },
    async close() {
      state.isClosed = true;
      await state.child?.kill();
    },
  };
}

function toStats({ asked, starts, child }: ProcessState): ReturnType<WarmProcess["stats"]> {
  return { asked, starts, pid: child && !child.isGone ? child.pid : 0 };
}

/** Equal names mean equal declarations. */
export function nameApi({ snapshot, part = "", secrets = [] }: ApiSurface): string {
  return [snapshot, part, secrets.map((name) => `secrets.${name}`).join(" ")].filter((text) => text !== "").join(" ");
}

/** Kills a process that uses too much memory before it replies. */
async function watch(
  child: CheckerProcess,
  answered: Promise<CheckerReply>,
  ms: number,
  options: ProcessOptions,
): Promise<CheckOutcome> {
  const late = Promise.withResolvers<CheckOutcome>();
  const timer = setTimeout(() => late.resolve({ kind: "late" }), ms);
  const watcher = setInterval(() => void (isTooLarge(child, options) && child.kill()), WATCH_MS);
  try {
    return await Promise.race([answered.catch((): CheckOutcome => ({ kind: "gone" })), late.promise]);
  } finally {
    clearTimeout(timer);
    clearInterval(watcher);
  }
}

function isTooLarge(child: CheckerProcess, { measure, limits }: ProcessOptions): boolean {
  return (measure(child.pid) ?? 0) > limits.memoryBytes;
}
