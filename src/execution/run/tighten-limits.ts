/** A request can lower limits and never raise them. */

import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";

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
