/** What a principal, or all principals together, may use over time. A limit bounds one execution, a quota many. */

/** For one principal, or for all together. 0 means no quota. */
export interface UsageQuotas {
  readonly executionsPerMinute: number;
  /** Wall-clock time of programs. */
  readonly executionMsPerHour: number;
  readonly concurrentExecutions: number;
  /** In the unit of the prices. */
  readonly costPerDay: number;
}

/** How often tools may be called. */
export interface RateQuota {
  readonly tools: readonly string[];
  readonly calls: number;
  readonly windowMs: number;
  /** Counted for each principal, or for all together. */
  readonly per: "principal" | "total";
}

export interface QuotaSettings extends UsageQuotas {
  readonly total: UsageQuotas;
  readonly rates: readonly RateQuota[];
  /** The price of one call, by tool pattern; the narrowest pattern wins. */
  readonly prices: ReadonlyMap<string, number>;
}
