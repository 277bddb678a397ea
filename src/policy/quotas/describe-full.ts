/** The error message about an exhausted quota: which one, how much is left, and when it resets. */

import type { Instant } from "../../domain/index.ts";
import { SECOND_MS } from "../../timing/index.ts";
import { COST_UNITS } from "./claim-quotas.ts";
import type { NamedClaim } from "./claim-quotas.ts";

const UNITS: Readonly<Record<Exclude<NamedClaim["unit"], "calls">, string>> = {
  executions: "executions in a minute",
  ms: "ms of execution time in an hour",
  places: "parallel executions",
  cost: "cost in a day",
};

/** `reserved` is the part of `used` that running programs hold. */
export function describeFullQuota(
  named: NamedClaim,
  { used, reserved, freeAt, now }: Readonly<Record<"used" | "reserved" | "freeAt" | "now", number>>,
): { message: string; hint: string } {
  const { claim, setting, principal } = named;
  const who = principal === null ? "all principals together" : principal;
  const seconds = Math.max(1, Math.ceil((freeAt - now) / SECOND_MS));
  const windowMs = claim.kind === "window" ? claim.windowMs : 0;
  const unit = named.unit === "calls" ? `calls in ${windowMs / SECOND_MS} s` : UNITS[named.unit];
  const limit = `${show(named, claim.limit)} ${unit} by ${who}`;
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
