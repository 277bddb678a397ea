/**
 * Checks programs against the generated API. Help, not the wall: whatever cannot be checked goes on, and its author
 * is told so.
 */

import { createHash } from "node:crypto";

import type { ApiSurface } from "../domain/index.ts";
import { createWarmProcess, nameApi } from "./warm-process.ts";
import type { CheckerLimits, Outcome, ProcessOptions } from "./warm-process.ts";
import type { Mistake } from "./wire.ts";

export interface CheckerOptions extends Omit<ProcessOptions, "limits"> {
  /** Tests make these smaller. */
  readonly limits?: Partial<CheckerLimits>;
}

/** The author's TypeScript: offsets count in it. */
export interface CheckRequest {
  readonly text: string;
  readonly surface: ApiSurface;
}

/** `unchecked` says why in words for the program's author. */
export type Checked =
  | { readonly kind: "checked"; readonly mistakes: readonly Mistake[] }
  | { readonly kind: "unchecked"; readonly reason: string };

export interface Checker extends AsyncDisposable {
  check(request: CheckRequest): Promise<Checked>;
  /** Programs that reached the process; what the cache answers is not among them. */
  readonly asked: number;
  /** How often a process was started. */
  readonly starts: number;
  /** Of the process, or 0 while there is none. */
  readonly pid: number;
}

/** Preparing takes a third of a second, on a busy machine seconds; a check takes milliseconds. */
const LIMITS: CheckerLimits = { prepareMs: 15_000, checkMs: 2_000, memoryBytes: 512 * 1024 * 1024, backoffMs: 500 };
const KEPT_ANSWERS = 256;

const TOO_LONG = "The types were not checked: it took too long";
const BROKEN = "The types were not checked: the checker ended and will be started again";
const WAITING = "The types were not checked: the checker failed a moment ago and is not started again yet";

/** Starts nothing; the first check does. */
export function openChecker(options: CheckerOptions): Checker {
  const running = createWarmProcess({ ...options, limits: { ...LIMITS, ...options.limits } });
  const kept = new Map<string, Checked>();
  let queue: Promise<unknown> = Promise.resolve();

  async function answer({ text, surface }: CheckRequest, key: string): Promise<Checked> {
    const before = kept.get(key);
    if (before) return before;
    const outcome = await running.ask(text, surface);
    const checked = toChecked(outcome);
    // Also what could not be checked: the same program would end the next process too.
    if (outcome.kind !== "waiting") kept.set(key, checked);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_ANSWERS && oldest !== undefined) kept.delete(oldest);
    return checked;
  }

  return {
    get asked() {
      return running.asked;
    },
    get starts() {
      return running.starts;
    },
    get pid() {
      return running.pid;
    },
    check(request) {
      const key = keyOf(request);
      const checked = queue.then(() => answer(request, key));
      queue = checked.catch(() => undefined);
      return checked;
    },
    [Symbol.asyncDispose]: () => running.close(),
  };
}

function toChecked(outcome: Outcome): Checked {
  switch (outcome.kind) {
    case "checked":
      return { kind: "checked", mistakes: outcome.mistakes };
    case "late":
      return { kind: "unchecked", reason: TOO_LONG };
    case "waiting":
      return { kind: "unchecked", reason: WAITING };
    case "gone":
    case "failed":
    case "unknownApi":
      return { kind: "unchecked", reason: BROKEN };
    default:
      return outcome satisfies never;
  }
}

/** The same text against the same tools has the same answer. */
function keyOf({ text, surface }: CheckRequest): string {
  return `${nameApi(surface)} ${createHash("sha256").update(text, "utf8").digest("hex")}`;
}
