/** What a principal, or all of them together, may use over time. A limit bounds one execution, a quota many. */

/** For one principal, or for all together. 0 stands for no such quota. */
export interface UsageQuotas {
  readonly executionsPerMinute: number;
  /** Wall time of programs. */
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
  /** Whether each principal has its own count. */
  readonly per: "principal" | "total";
}

export interface QuotaSettings extends UsageQuotas {
  readonly total: UsageQuotas;
  readonly rates: readonly RateQuota[];
  /** What one call costs, by tool pattern; the narrowest pattern counts. */
  readonly prices: ReadonlyMap<string, number>;
}
