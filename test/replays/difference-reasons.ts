/** Why a replay may differ between engines. The list is short, and each reason is tested. */

import type { EngineName, ErrorCode, ExecutionResult } from "../../src/domain/index.ts";
import { isCutOff } from "../../src/execution/replay/find-difference.ts";

/** By name; the value is printed. */
export const REASONS = {
  neverBegan: "its program never began",
  notKept: "its journal is not kept, as the settings of its test say",
  damaged: "its test damaged its journal",
  notEnded: "it had not ended when its test did: shown as far as it had come",
  cutOff: "time, memory, a quota, a cancel or a crash ended it: compared up to there",
  lateLines: "workerd hands on the lines of a program when it waits or ends, and this one computes until it is ended",
  slower: "what it does takes more time or memory on this engine than it may",
  engineWords: "the error is one that the engine itself throws, in words of its own",
} as const;

export type Reason = (typeof REASONS)[keyof typeof REASONS];

/** Errors that an engine throws; a program that throws one of them itself has the same message on every engine. */
const ENGINE_ERROR = /^(?:TypeError|RangeError|ReferenceError|SyntaxError|URIError|InternalError): /;

const SPENT: readonly (ErrorCode | undefined)[] = ["LIMIT_TIME", "LIMIT_MEMORY"];

export interface ReplayedPair {
  readonly first: ExecutionResult;
  readonly again: ExecutionResult;
  readonly difference: string;
  /** The engine of the replay. */
  readonly engine: EngineName;
}

/** Returns why the difference is acceptable, or `undefined` if it is not. */
export function explain({ first, again, difference, engine }: ReplayedPair): Reason | undefined {
  if (first.engine === engine) return undefined;
  const isShort = difference.startsWith("The state was ") || /^Line \d+ of the log .* and is absent$/.test(difference);
  if (isShort && SPENT.includes(again.error?.code)) {
    if (!isCutOff(first)) return REASONS.slower;
    return engine === "workerd" ? REASONS.lateLines : undefined;
  }
  const texts = [first.error, again.error].map((error) => (error?.code === "PROGRAM_THREW" ? error.message : ""));
  const isWords = difference.startsWith("The error was ") && texts.every((text) => ENGINE_ERROR.test(text));
  return isWords ? REASONS.engineWords : undefined;
}
