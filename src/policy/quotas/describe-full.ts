/** The sentence about a quota that is used up: which one, how much is left, and when it resets. */

import type { Instant } from "../../domain/index.ts";
import { COST_UNITS } from "./claim-quotas.ts";
import type { NamedClaim } from "./claim-quotas.ts";

/** As the store found it. */
export interface FullState {
  readonly used: number;
  /** The part of it that is held by programs that run now. */
  readonly reserved: number;
  readonly freeAt: Instant;
  readonly now: Instant;
}

const SECOND_MS = 1000;

export function describeFullQuota(named: NamedClaim, state: FullState): { message: string; hint: string } {
  const { claim, setting, principal } = named;
  const { used, reserved, freeAt, now } = state;
  const who = principal === null ? "all principals together" : principal;
  const seconds = Math.max(1, Math.ceil((freeAt - now) / SECOND_MS));
  const limit = `${show(named, claim.limit)} ${describeUnit(named)} by ${who}`;
  if (reserved > 0) {
    const held = `${used - reserved} are used and ${reserved} reserved by programs that run now`;
    const back = `what they do not use comes back when they end, and all of it in ${seconds} s`;
    return {
      message: `The quota ${setting} has too little left: of ${limit} ${held}; ${back} (${toTime(freeAt)})`,
      hint: `Try again when one of them has ended, or ask the operator to raise ${setting}`,
    };
  }
  const left = show(named, Math.max(0, claim.limit - used));
  const reset = claim.kind === "place" ? "the next is free when one ends" : `it resets in ${seconds} s`;
  const asked =
    named.unit === "cost" && claim.kind === "window" ? `, and this call costs ${show(named, claim.amount)}` : "";
  return {
    message: `The quota ${setting} is used up: ${show(named, used)} of ${limit}, ${left} left${asked}; ${reset} (${toTime(freeAt)})`,
    hint: `Wait and try again, or ask the operator to raise ${setting}`,
  };
}

/** A clock far off gives a time that no date can hold. */
function toTime(at: Instant): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "at a time unknown" : `at the latest ${date.toISOString()}`;
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
      return "executions at once";
    case "calls":
      return claim.kind === "window" ? `calls in ${claim.windowMs / SECOND_MS} s` : "calls";
    case "cost":
      return "cost in a day";
    default:
      return unit satisfies never;
  }
}
