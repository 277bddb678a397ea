/** Which counters a request uses, and how much of each. Pure functions. */

import type { Instant, Principal, QuotaSettings, Tool } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../timing/index.ts";
import { formsOf, matchTool, pickByTool } from "../matches-tool.ts";

export interface NamedClaim {
  readonly claim: Parameters<Store["quotas"]["take"]>[0][number];
  readonly setting: string;
  readonly unit: "executions" | "ms" | "places" | "calls" | "cost";
  /** Whose counter it is, in words. */
  readonly who: string;
}

/** One counter for each principal, for each session of a principal, or for all together. */
type Scope = QuotaSettings["rates"][number]["per"];

/** Costs are counted as integers, in millionths: sums of decimals would drift. */
export const COST_UNITS = 1_000_000;
/** How long an execution may wait in the queue before its time begins. */
const WAITING_MS = 10 * MINUTE_MS;

/** With less time left, a program would hardly finish, so it is not started. */
const LEAST_MS = 1_000;

/** The quotas of the principal, of its session and of all principals together; 0 means no quota. */
function scopesOf(settings: QuotaSettings) {
  return [
    { prefix: "", quotas: settings, scope: "principal" },
    { prefix: "session.", quotas: settings.session, scope: "session" },
    { prefix: "total.", quotas: settings.total, scope: "total" },
  ] as const;
}

/** An execution counts once, reserves its whole wall time, and occupies a slot until it ends. */
export function claimExecution(
  settings: QuotaSettings,
  { principal, wallMs }: { readonly principal: Principal; readonly wallMs: number },
  { holder, now }: { readonly holder: string; readonly now: Instant },
): readonly NamedClaim[] {
  return scopesOf(tighten(settings, principal)).flatMap(({ prefix, quotas, scope }) => {
    const name = (quota: keyof QuotaSettings["total"]) => {
      const { who, ...counter } = counterOf(scope, principal, quota);
      return { words: { setting: `quotas.${prefix}${quota}`, who }, own: { ...counter, limit: quotas[quota] } };
    };
    const [count, time, places] = [
      name("executionsPerMinute"),
      name("executionMsPerHour"),
      name("concurrentExecutions"),
    ];
    const counted = { kind: "window", ...count.own, windowMs: MINUTE_MS, amount: 1, least: 1 } as const;
    const least = Math.min(wallMs, LEAST_MS, time.own.limit);
    const timed = { kind: "window", ...time.own, windowMs: HOUR_MS, amount: wallMs, least, holder } as const;
    const { key, limit } = places.own;
    const placed = { kind: "place", key, limit, holder, until: now + wallMs + WAITING_MS } as const;
    const claims: readonly NamedClaim[] = [
      { ...count.words, unit: "executions", claim: counted },
      { ...time.words, unit: "ms", claim: timed },
      { ...places.words, unit: "places", claim: placed },
    ];
    return claims.filter(({ claim }) => claim.limit > 0);
  });
}

/** A token can have a lower quota than the configuration. */
function tighten(settings: QuotaSettings, { executionsPerMinute: own }: Principal): QuotaSettings {
  const { executionsPerMinute: usual } = settings;
  return own === undefined || (usual > 0 && usual <= own) ? settings : { ...settings, executionsPerMinute: own };
}

/** A call counts for each rate that matches its tool, and costs its price. */
export function claimCall(
  settings: QuotaSettings,
  { principal, tool }: { readonly principal: Principal; readonly tool: Tool },
): readonly NamedClaim[] {
  if (settings.rates.length === 0 && settings.prices.size === 0) return [];
  return [...claimRates(settings, principal, tool), ...claimCost(settings, principal, tool)];
}

function claimRates({ rates }: QuotaSettings, principal: Principal, tool: Tool): readonly NamedClaim[] {
  const forms = formsOf(tool);
  return rates.flatMap(({ tools, calls, windowMs, per }, index) => {
    if (matchTool(tools, forms) === "no") return [];
    // The key contains the rate, so that a changed rate starts a new count.
    const { who, ...counter } = counterOf(per, principal, keyOfRate({ tools, windowMs }));
    const claim = { kind: "window", ...counter, windowMs, limit: calls, amount: 1, least: 1 } as const;
    return [{ claim, setting: `quotas.rates[${index}]`, unit: "calls" as const, who }];
  });
}

export function keyOfRate({ tools, windowMs }: Pick<QuotaSettings["rates"][number], "tools" | "windowMs">): string {
  return `rate ${tools.toSorted().join(" ")} ${windowMs}`;
}

function claimCost(settings: QuotaSettings, principal: Principal, tool: Tool): readonly NamedClaim[] {
  const amount = Math.ceil(priceOf(settings, tool) * COST_UNITS);
  if (amount === 0) return [];
  return scopesOf(settings).flatMap(({ prefix, quotas, scope }) => {
    const limit = Math.floor(quotas.costPerDay * COST_UNITS);
    if (limit === 0) return [];
    const { who, ...counter } = counterOf(scope, principal, "costPerDay");
    const claim = { kind: "window", ...counter, windowMs: DAY_MS, limit, amount, least: amount } as const;
    return [{ claim, setting: `quotas.${prefix}costPerDay`, unit: "cost" as const, who }];
  });
}

/** The full name takes precedence over the namespace, the namespace over `*`. */
function priceOf({ prices }: QuotaSettings, tool: Tool): number {
  return pickByTool(prices, formsOf(tool), { usual: 0, rank: (price) => price }) ?? 0;
}

/** Keys are unique: a shared counter has no principal, and all parts are encoded as JSON. Sessions end, so theirs have a family. */
function counterOf(scope: Scope, { id, session = "" }: Principal, quota: string) {
  switch (scope) {
    case "principal":
      return { who: id, key: JSON.stringify([id, quota]) };
    case "session": {
      const family = `{"quota":${JSON.stringify(quota)},`;
      return { who: `one session of ${id}`, key: `${family}"session":${JSON.stringify([id, session])}}`, family };
    }
    case "total":
      return { who: "all principals together", key: JSON.stringify([null, quota]) };
    default:
      return scope satisfies never;
  }
}
