/** The limits of one execution: one frozen object that every room receives. No room has defaults. */

import { GloveboxError } from "./errors.ts";

export interface Limits {
  /**
   * Time from the start of the program until it ends or is suspended, waiting included. A resumed program has the whole
   * time again; the same holds for `cpuMs`.
   */
  readonly wallMs: number;
  /** Processor time of the process that runs the program. */
  readonly cpuMs: number;
  /** Memory of the program, on and off the heap. */
  readonly memoryBytes: number;
  /** Attempts to call a tool, refused ones too. */
  readonly calls: number;
  /** Calls in flight at once; further calls wait. */
  readonly concurrentCalls: number;
  /** Time limit of one call. */
  readonly callMs: number;
  readonly sourceBytes: number;
  /** Result and logs together. */
  readonly outputBytes: number;
  /** Arguments of one call. */
  readonly argumentBytes: number;
  /** Result of one call. */
  readonly resultBytes: number;
  /** Nesting of arguments and results. */
  readonly depth: number;
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  wallMs: 30_000,
  cpuMs: 10_000,
  memoryBytes: 128 * 1024 * 1024,
  calls: 100,
  concurrentCalls: 16,
  callMs: 30_000,
  sourceBytes: 256 * 1024,
  outputBytes: 1024 * 1024,
  argumentBytes: 1024 * 1024,
  resultBytes: 10 * 1024 * 1024,
  depth: 64,
});

/** Lowers the operator's limits to those of a request; a request can never raise one. */
export function tightenLimits(limits: Limits, wanted: Partial<Limits>): Limits {
  const tightened: Record<keyof Limits, number> = { ...limits };
  for (const key of Object.keys(wanted)) {
    if (!isLimit(key)) throw new GloveboxError("REQUEST_INVALID", `Unknown limit ${JSON.stringify(key)}`);
    const value = wanted[key];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new GloveboxError("REQUEST_INVALID", `The limit ${key} must be an integer of at least 1`);
    }
    tightened[key] = Math.min(limits[key], value);
  }
  return Object.freeze(tightened);
}

function isLimit(key: string): key is keyof Limits {
  return Object.hasOwn(DEFAULT_LIMITS, key);
}
