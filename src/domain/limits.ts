/** The limits of one execution. One frozen object goes in at the top; no room has a default of its own. */

import { GloveboxError } from "./errors.ts";

export interface Limits {
  /**
   * Time from the start of the program to its end or until it is put away, waiting included. One that goes on has all of
   * it again, and so it is with `cpuMs`.
   */
  readonly wallMs: number;
  /** Processor time of the process that runs the program. */
  readonly cpuMs: number;
  /** What the program may hold, on and off the heap. */
  readonly memoryBytes: number;
  /** Attempts to call a tool, refused ones too. */
  readonly calls: number;
  /** Calls under way at once; further ones wait for their turn. */
  readonly concurrentCalls: number;
  /** Time that one call may take. */
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

/** A request may ask for less than the operator allows, never for more. */
export function tightenLimits(limits: Limits, wanted: Partial<Limits>): Limits {
  const tightened: Record<keyof Limits, number> = { ...limits };
  for (const key of Object.keys(wanted)) {
    if (!isLimit(key)) throw new GloveboxError("REQUEST_INVALID", `There is no limit called ${JSON.stringify(key)}`);
    const value = wanted[key];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new GloveboxError("REQUEST_INVALID", `The limit ${key} must be a whole number from 1 up`);
    }
    tightened[key] = Math.min(limits[key], value);
  }
  return Object.freeze(tightened);
}

function isLimit(key: string): key is keyof Limits {
  return Object.hasOwn(DEFAULT_LIMITS, key);
}
