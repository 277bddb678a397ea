/**
 * Checks programs against the generated API. The check helps authors and is not a security boundary: a program that
 * cannot be checked runs, with a warning.
 */

import type { ApiSurface } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { createRecent } from "../timing/index.ts";
import { createWarmProcess, nameApi } from "./warm-process.ts";
import type { CheckerLimits, CheckOutcome, ProcessOptions } from "./warm-process.ts";
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

/** `reason` is written for the author of the program. */
export type CheckResult =
  | { readonly kind: "checked"; readonly mistakes: readonly Mistake[] }
  | { readonly kind: "unchecked"; readonly reason: string };

export interface CheckerStats {
  /** Programs that reached the process; programs that the cache answered are not counted. */
  readonly asked: number;
  /** How often a process was started. */
  readonly starts: number;
  /** The pid of the process, or 0 while there is none. */
  readonly pid: number;
}

export interface Checker extends AsyncDisposable {
  check(request: CheckRequest): Promise<CheckResult>;
  stats(): CheckerStats;
}

/** Preparing takes a third of a second, or seconds on a busy machine; a check takes milliseconds. */
const LIMITS: CheckerLimits = { prepareMs: 15_000, checkMs: 2_000, memoryBytes: 512 * 1024 * 1024, backoffMs: 500 };
const KEPT_ANSWERS = 256;

const TOO_LONG = "The types were not checked: the check took too long";
const BROKEN = "The types were not checked: the checker ended and will be started again";
const WAITING = "The types were not checked: the checker failed a moment ago and is not started again yet";

/** Starts nothing; the first check does. */
export function openChecker(options: CheckerOptions): Checker {
  const running = createWarmProcess({ ...options, limits: { ...LIMITS, ...options.limits } });
  const kept = createRecent<string, CheckResult>(KEPT_ANSWERS);
  let queue: Promise<unknown> = Promise.resolve();

  async function answer({ text, surface }: CheckRequest, key: string): Promise<CheckResult> {
    const before = kept.get(key);
    if (before) return before;
    const outcome = await running.ask(text, surface);
    const checked = toChecked(outcome);
    // Failures too: the same program would end the next process as well.
    if (outcome.kind !== "waiting") kept.set(key, checked);
    return checked;
  }

  return {
    stats: () => running.stats(),
    check(request) {
      const key = keyOf(request);
      const checked = queue.then(() => answer(request, key));
      queue = checked.catch(() => undefined);
      return checked;
    },
    [Symbol.asyncDispose]: () => running.close(),
  };
}

function toChecked(outcome: CheckOutcome): CheckResult {
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
  return `${nameApi(surface)} ${digestOf(text)}`;
}
