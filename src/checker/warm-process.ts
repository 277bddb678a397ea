/**
 * The checker's process, kept warm: started when it is needed, given each set of declarations once, ended when it is
 * late or grows, and after a failure not started again before a while.
 */

import type { ApiSurface, ChildKeeper, Instant } from "../domain/index.ts";
import { CHILD, startChild } from "./start-child.ts";
import type { Child } from "./start-child.ts";
import type { Answer } from "./wire.ts";

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
  /** Resident bytes of a process and what it started, where that can be known. */
  readonly measure: (pid: number) => number | undefined;
  readonly limits: CheckerLimits;
  /** The process's code; tests have their own. */
  readonly script?: string;
}

/** `waiting` is a process that failed a moment ago. */
export type Outcome = Answer | { readonly kind: "late" | "gone" | "waiting" };

export interface WarmProcess {
  /** One question at a time. After anything but an answer the process is gone. */
  ask(text: string, surface: ApiSurface): Promise<Outcome>;
  readonly asked: number;
  readonly starts: number;
  /** 0 while there is none. */
  readonly pid: number;
  close(): Promise<void>;
}

const LONGEST_BACKOFF_MS = 60_000;
const WATCH_MS = 50;

interface State {
  child: Child | undefined;
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
  const state: State = { child: undefined, isClosed: false, ids: 0, asked: 0, starts: 0, failures: 0, notBefore: 0 };

  function findChild(): Child | undefined {
    if (state.child && !state.child.isGone) return state.child;
    if (state.isClosed || now() < state.notBefore) return undefined;
    known.clear();
    state.starts += 1;
    state.child = startChild({ ...options, script: options.script ?? CHILD });
    return state.child;
  }

  /** Gives the declarations with an empty program, so that no program's time is spent on them. */
  async function prepare(child: Child, surface: ApiSurface): Promise<Outcome> {
    const { declarations } = surface;
    const api = nameApi(surface);
    known.add(api);
    state.ids += 1;
    return watch(child, child.ask({ id: state.ids, api, declarations, text: "" }), limits.prepareMs, options);
  }

  async function check(child: Child, text: string, surface: ApiSurface): Promise<Outcome> {
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

  async function settle(child: Child, outcome: Outcome): Promise<Outcome> {
    const isAnswered = outcome.kind === "checked";
    if (!isAnswered || isTooLarge(child, options)) await child.kill();
    state.notBefore = isAnswered ? 0 : now() + Math.min(limits.backoffMs * 2 ** state.failures, LONGEST_BACKOFF_MS);
    state.failures = isAnswered ? 0 : state.failures + 1;
    return outcome;
  }

  return {
    get asked() {
      return state.asked;
    },
    get starts() {
      return state.starts;
    },
    get pid() {
      return state.child && !state.child.isGone ? state.child.pid : 0;
    },
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

/** Equal names mean equal declarations. */
export function nameApi({ snapshot, part = "", secrets = [] }: ApiSurface): string {
  return [snapshot, part, secrets.map((name) => `secrets.${name}`).join(" ")].filter((text) => text !== "").join(" ");
}

/** Ends a process that takes too much before it has answered. */
async function watch(child: Child, answered: Promise<Answer>, ms: number, options: ProcessOptions): Promise<Outcome> {
  const late = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => late.resolve({ kind: "late" }), ms);
  const watcher = setInterval(() => void (isTooLarge(child, options) && child.kill()), WATCH_MS);
  try {
    return await Promise.race([answered.catch((): Outcome => ({ kind: "gone" })), late.promise]);
  } finally {
    clearTimeout(timer);
    clearInterval(watcher);
  }
}

function isTooLarge(child: Child, { measure, limits }: ProcessOptions): boolean {
  return (measure(child.pid) ?? 0) > limits.memoryBytes;
}
