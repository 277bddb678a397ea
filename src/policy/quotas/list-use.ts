/** Which quotas are in use, by the counters of the store. */

import type { Instant, Json, QuotaSettings } from "../../domain/index.ts";
import { defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../timing/index.ts";
import { COST_UNITS, keyOfRate } from "./claim-quotas.ts";
import type { NamedClaim } from "./claim-quotas.ts";

export interface UsedQuota {
  /** As in the configuration, such as `quotas.executionsPerMinute`. */
  readonly setting: string;
  readonly unit: NamedClaim["unit"];
  readonly who: string;
  readonly used: number;
  readonly limit: number;
  /** Absent for slots. */
  readonly resetsAt?: Instant;
}

type StoredCounts = Awaited<ReturnType<Store["quotas"]["list"]>>;

const USUAL = {
  executionsPerMinute: { unit: "executions", windowMs: MINUTE_MS, scale: 1 },
  executionMsPerHour: { unit: "ms", windowMs: HOUR_MS, scale: 1 },
  concurrentExecutions: { unit: "places", windowMs: 0, scale: 1 },
  costPerDay: { unit: "cost", windowMs: DAY_MS, scale: COST_UNITS },
} as const;

/** Without counters whose window has ended, and those of quotas that the settings do not have. */
export function listUse(settings: QuotaSettings, counts: StoredCounts, now: Instant): readonly UsedQuota[] {
  return counts.flatMap(({ key, startedAt, used }) => {
    const found = findQuota(settings, key);
    if (!found || used === 0 || found.limit === 0) return [];
    const { windowMs, scale, ...named } = found;
    const resetsAt = startedAt === undefined ? undefined : startedAt + windowMs;
    if (resetsAt !== undefined && resetsAt <= now) return [];
    return [{ ...named, used: used / scale, ...defined({ resetsAt }) }];
  });
}

function findQuota(settings: QuotaSettings, key: string) {
  const owner = parseOwner(parseJson(key));
  if (!owner) return undefined;
  const { who, quota, scope } = owner;
  const index = settings.rates.findIndex((rate) => keyOfRate(rate) === quota);
  const rate = settings.rates[index];
  if (rate) {
    const { calls: limit, windowMs } = rate;
    return { setting: `quotas.rates[${index}]`, unit: "calls" as const, who, limit, windowMs, scale: 1 };
  }
  const name = (["executionsPerMinute", "executionMsPerHour", "concurrentExecutions", "costPerDay"] as const).find(
    (one) => one === quota,
  );
  if (!name) return undefined;
  const limits = { principal: settings, session: settings.session, total: settings.total }[scope];
  const setting = `quotas.${scope === "principal" ? "" : `${scope}.`}${name}`;
  return { setting, who, limit: limits[name], ...USUAL[name] };
}

/** Whose counter a key is: `[principal, quota]`, `[null, quota]`, or an object for a session. */
function parseOwner(key: Json | undefined) {
  if (Array.isArray(key)) {
    const [id, quota] = key;
    if (typeof quota !== "string") return undefined;
    if (id === null) return { who: "all principals together", quota, scope: "total" } as const;
    return typeof id === "string" ? ({ who: id, quota, scope: "principal" } as const) : undefined;
  }
  if (!isJsonObject(key) || typeof key["quota"] !== "string" || !Array.isArray(key["session"])) return undefined;
  return { who: `one session of ${String(key["session"][0])}`, quota: key["quota"], scope: "session" } as const;
}
