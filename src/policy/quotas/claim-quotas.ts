/** Which counters a request uses, and how much of each. Pure functions. */

import type { Instant, Principal, QuotaSettings, Tool } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../timing/index.ts";
import { formsOf, matchTool, pickByTool } from "../matches-tool.ts";

export interface NamedClaim {
  readonly claim: Parameters<Store["quotas"]["take"]>[0][number];
  readonly setting: string;
  readonly unit: "executions" | "ms" | "places" | "calls" | "cost";
  /** `null` if all principals share the counter. */
  readonly principal: string | null;
}

/** Costs are counted as integers, in millionths: sums of decimals would drift. */
export const COST_UNITS = 1_000_000;
/** How long an execution may wait in the queue before its time begins. */
const WAITING_MS = 10 * MINUTE_MS;

/** With less time left, a program would hardly finish, so it is not started. */
const LEAST_MS = 1_000;

/** The quotas of the principal and of all principals together; 0 means no quota. */
function scopesOf(settings: QuotaSettings, principal: Principal) {
  return [
    { prefix: "", quotas: settings, who: principal.id },
    { prefix: "total.", quotas: settings.total, who: null },
  ];
}

/** An execution counts once, reserves its whole wall time, and occupies a slot until it ends. */
export function claimExecution(
  settings: QuotaSettings,
  { principal, wallMs }: { readonly principal: Principal; readonly wallMs: number },
  { holder, now }: { readonly holder: string; readonly now: Instant },
): readonly NamedClaim[] {
  return scopesOf(settings, principal).flatMap(({ prefix, quotas, who }) => {
    const name = (quota: keyof typeof quotas) => ({
      words: { setting: `quotas.${prefix}${quota}`, principal: who },
      own: { key: keyOf(who, quota), limit: quotas[quota] },
    });
    const [count, time, places] = [
      name("executionsPerMinute"),
      name("executionMsPerHour"),
      name("concurrentExecutions"),
    ];
    const counted = { kind: "window", ...count.own, windowMs: MINUTE_MS, amount: 1, least: 1 } as const;
    const least = Math.min(wallMs, LEAST_MS, time.own.limit);
    const timed = { kind: "window", ...time.own, windowMs: HOUR_MS, amount: wallMs, least, holder } as const;
    const placed = { kind: "place", ...places.own, holder, until: now + wallMs + WAITING_MS } as const;
    const claims: readonly NamedClaim[] = [
      { ...count.words, unit: "executions", claim: counted },
      { ...time.words, unit: "ms", claim: timed },
      { ...places.words, unit: "places", claim: placed },
    ];
    return claims.filter(({ claim }) => claim.limit > 0);
  });
}

/** A call counts for each rate that matches its tool, and costs its price. */
export function claimCall(
  settings: QuotaSettings,
  { principal, tool }: { readonly principal: Principal; readonly tool: Tool },
): readonly NamedClaim[] {
  return [...claimRates(settings, principal, tool), ...claimCost(settings, principal, tool)];
}

function claimRates({ rates }: QuotaSettings, principal: Principal, tool: Tool): readonly NamedClaim[] {
  const forms = formsOf(tool);
  return rates.flatMap(({ tools, calls, windowMs, per }, index) => {
    if (matchTool(new Set(tools), forms) === "no") return [];
    const who = per === "principal" ? principal.id : null;
    // The key contains the rate, so that a changed rate starts a new count.
    const key = keyOf(who, `rate ${tools.toSorted().join(" ")} ${windowMs}`);
    const claim = { kind: "window", key, windowMs, limit: calls, amount: 1, least: 1 } as const;
    return [{ claim, setting: `quotas.rates[${index}]`, unit: "calls" as const, principal: who }];
  });
}

function claimCost(settings: QuotaSettings, principal: Principal, tool: Tool): readonly NamedClaim[] {
  const amount = Math.ceil(priceOf(settings, tool) * COST_UNITS);
  if (amount === 0) return [];
  return scopesOf(settings, principal).flatMap(({ prefix, quotas, who }) => {
    const limit = Math.floor(quotas.costPerDay * COST_UNITS);
    if (limit === 0) return [];
    const key = keyOf(who, "costPerDay");
    const claim = { kind: "window", key, windowMs: DAY_MS, limit, amount, least: amount } as const;
    return [{ claim, setting: `quotas.${prefix}costPerDay`, unit: "cost" as const, principal: who }];
  });
}

/** The full name takes precedence over the namespace, the namespace over `*`. */
function priceOf({ prices }: QuotaSettings, tool: Tool): number {
  return pickByTool(prices, formsOf(tool), { usual: 0, rank: (price) => price }) ?? 0;
}

/** Keys are unique: a shared counter has no principal, and a principal is encoded as JSON. */
function keyOf(who: string | null, quota: string): string {
  return JSON.stringify([who, quota]);
}
