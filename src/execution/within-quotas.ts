/** Lets an execution begin when its principal's quotas allow it, and settles what it used. */

import type { Limits, Principal } from "../domain/index.ts";

/** What was granted to one execution. */
export interface Admission {
  /** What is left for it, if that is less than its limit. */
  readonly wallMs: number;
  settle(usedMs: number): Promise<void>;
}

/** Rejects with LIMIT_QUOTA when nothing is left. */
export type Admit = (principal: Principal, wallMs: number) => Promise<Admission>;

/** What is to be done within the quotas, and how long it took by its own count. */
export interface Work<Done> {
  readonly run: (limits: Limits) => Promise<Done>;
  readonly wallMsOf: (done: Done) => number;
}

/** What ends without an answer is charged for the whole time that it took. */
export async function withinQuotas<Done>(
  { principal, limits }: { readonly principal: Principal; readonly limits: Limits },
  admit: Admit,
  { run, wallMsOf }: Work<Done>,
): Promise<Done> {
  const admission = await admit(principal, limits.wallMs);
  const startedAt = performance.now();
  let usedMs: number | undefined;
  try {
    const done = await run({ ...limits, wallMs: Math.min(limits.wallMs, admission.wallMs) });
    usedMs = wallMsOf(done);
    return done;
  } finally {
    await admission.settle(usedMs ?? performance.now() - startedAt);
  }
}
