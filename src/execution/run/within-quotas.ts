/** Lets an execution begin when its principal's quotas allow it, and settles what it used. */

import type { ExecutionId, ExecutionResult, Limits, Principal } from "../../domain/index.ts";

/** What was granted to one execution. */
export interface QuotaGrant {
  /** What is left for it, if that is less than its limit. */
  readonly wallMs: number;
  /** The quota that left it less, as the operator's setting. */
  readonly shortenedBy?: string;
  release(usedMs: number): Promise<void>;
}

/** An execution that wants to run now, and for how long at most. */
export interface QuotaRequest {
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly wallMs: number;
  /** What goes on `again` was counted before, only its time was not; for what was `restarted` that was taken, too. */
  readonly when?: "again" | "restarted";
}

/** Rejects with LIMIT_QUOTA when nothing is left. */
export type Admit = (request: QuotaRequest) => Promise<QuotaGrant>;

/** What is to be done within the quotas, and how long it took by its own count. */
export interface QuotaWork<Done> {
  readonly run: (limits: Limits, shortenedBy?: string) => Promise<Done>;
  readonly wallMsOf: (done: Done) => number;
}

/** What ends without an answer is charged for the whole time that it took. */
export async function runWithinQuotas<Done>(
  { limits, ...request }: Omit<QuotaRequest, "wallMs"> & { readonly limits: Limits },
  admit: Admit,
  { run, wallMsOf }: QuotaWork<Done>,
): Promise<Done> {
  const admission = await admit({ ...request, wallMs: limits.wallMs });
  const startedAt = performance.now();
  let usedMs: number | undefined;
  try {
    const done = await run({ ...limits, wallMs: Math.min(limits.wallMs, admission.wallMs) }, admission.shortenedBy);
    usedMs = wallMsOf(done);
    return done;
  } finally {
    await admission.release(usedMs ?? performance.now() - startedAt);
  }
}

/** Names the quota where it, and not the program's own limit, ended the program. Calls may have been made: no retry. */
export function attributeToQuota(result: ExecutionResult, { wallMs }: Limits, shortenedBy?: string): ExecutionResult {
  const { error } = result;
  // The host's own words name the limit; a program cannot claim this code.
  if (shortenedBy === undefined || error?.code !== "LIMIT_TIME" || !error.message.endsWith("(wallMs)")) return result;
  const message = `The program was ended after ${wallMs} ms: no more was left of the quota ${shortenedBy}`;
  const hint = `Look at what it has done, and wait until the quota resets or ask the operator to raise ${shortenedBy}`;
  return { ...result, error: { code: "LIMIT_QUOTA", message, retry: false, hint } };
}
