/** The error message about an exhausted quota: which one, how much is left, and when it resets. */

import type { Instant } from "../../domain/index.ts";
import { SECOND_MS } from "../../timing/index.ts";
import { COST_UNITS } from "./claim-quotas.ts";
import type { NamedClaim } from "./claim-quotas.ts";

export interface FullState {
  readonly used: number;
  /** The part that is reserved by running programs. */
  readonly reserved: number;
  readonly freeAt: Instant;
  readonly now: Instant;
}

export function describeFullQuota(named: NamedClaim, state: FullState): { message: string; hint: string } {
  const { claim, setting, principal } = named;
  const { used, reserved, freeAt, now } = state;
  const who = principal === null ? "all principals together" : principal;
  const seconds = Math.max(1, Math.ceil((freeAt - now) / SECOND_MS));
  const limit = `${show(named, claim.limit)} ${describeUnit(named)} by ${who}`;
  if (reserved > 0) {
    const held = `${used - reserved} are used and ${reserved} are reserved by running programs`;
    const back = `unused time is released when they end, and all of it in ${seconds} s`;
    return {
      message: `The quota ${setting} has too little left: of ${limit}, ${held}; ${back} (${toTime(freeAt)})`,
      hint: `Retry when a running program has ended, or ask the operator to raise ${setting}`,
    };
  }
  const left = show(named, Math.max(0, claim.limit - used));
  const reset = claim.kind === "place" ? "a slot is free when one ends" : `it resets in ${seconds} s`;
  const price =
    named.unit === "cost" && claim.kind === "window" ? `, and this call costs ${show(named, claim.amount)}` : "";
  return {
    message: `The quota ${setting} is used up: ${show(named, used)} of ${limit}, ${left} left${price}; ${reset} (${toTime(freeAt)})`,
    hint: `Wait and retry, or ask the operator to raise ${setting}`,
  };
}

/** A wrong clock can give a time outside of the range of dates. */
function toTime(at: Instant): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "at an unknown time" : `at the latest ${date.toISOString()}`;
}

function show({ unit }: NamedClaim, amount: number): string {
  return unit === "cost" ? String(amount / COST_UNITS) : String(amount);
}

function describeUnit({ unit, claim }: NamedClaim): string {
  switch (unit) {
    case "executions":
      return "executions in a minute";
    case "ms":
      return "ms of execution time in an hour";
    case "places":
      return "parallel executions";
    case "calls":
      return claim.kind === "window" ? `calls in ${claim.windowMs / SECOND_MS} s` : "calls";
    case "cost":
      return "cost in a day";
    default:
      return unit satisfies never;
  }
}
