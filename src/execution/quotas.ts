/** Starts an execution when its principal's quotas allow it, and releases the unused part afterwards. */

import type { Execution, ExecutionId, ExecutionResult, Limits, Principal } from "../domain/index.ts";

import type { RecordDeps } from "./deps.ts";

/** What was granted to one execution. */
export interface ExecutionGrant {
  /** The wall time that is left, if that is less than the limit. */
  readonly wallMs: number;
  /** The setting of the quota that shortened it. */
  readonly shortenedBy?: string;
  /** Returns the unused part. */
  release(usedMs: number): Promise<void>;
}

/** An execution that is about to run. */
export interface GrantRequest {
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly wallMs: number;
  /** `again`: the execution was counted before, its time was not. `restarted`: its time was reserved before, too. */
  readonly when?: "again" | "restarted";
}

/** Reserves quota. Rejects with LIMIT_QUOTA when nothing is left. */
export type AdmitExecution = (request: GrantRequest) => Promise<ExecutionGrant>;

/** `wallMsOf` reads the time that the work used; work that rejects is charged for the whole time that it took. */
export async function runWithinQuotas<Done>(
  { limits, ...request }: Omit<GrantRequest, "wallMs"> & { readonly limits: Limits },
  admit: AdmitExecution,
  {
    run,
    wallMsOf,
  }: {
    readonly run: (limits: Limits, shortenedBy?: string) => Promise<Done>;
    readonly wallMsOf: (done: Done) => number;
  },
): Promise<Done> {
  const grant = await admit({ ...request, wallMs: limits.wallMs });
  const startedAt = performance.now();
  let usedMs: number | undefined;
  try {
    const done = await run({ ...limits, wallMs: Math.min(limits.wallMs, grant.wallMs) }, grant.shortenedBy);
    usedMs = wallMsOf(done);
    return done;
  } finally {
    await grant.release(usedMs ?? performance.now() - startedAt);
  }
}

/** Names the quota where it, and not the program's own limit, ended the program. Calls may have been made: no retry. */
export function attributeToQuota(result: ExecutionResult, { wallMs }: Limits, shortenedBy?: string): ExecutionResult {
  const { error } = result;
  // The host wrote this message; a program cannot claim this code.
  if (shortenedBy === undefined || error?.code !== "LIMIT_TIME" || !error.message.endsWith("(wallMs)")) return result;
  const message = `The program was ended after ${wallMs} ms because the quota ${shortenedBy} is used up`;
  const hint = `Check what it changed; then wait until the quota resets, or ask the operator to raise ${shortenedBy}`;
  return { ...result, error: { code: "LIMIT_QUOTA", message, retry: false, hint } };
}

/** Releases the quota that a dead process reserved. A process that may still run releases its own. Never rejects. */
export async function releaseIfLost(
  { id, owner }: Pick<Execution, "id" | "owner">,
  deps: Pick<RecordDeps, "hasEnded" | "releaseQuota" | "report">,
): Promise<void> {
  if (owner === undefined || !deps.hasEnded(owner)) return;
  await deps.releaseQuota(id).catch((thrown: unknown) => void deps.report(thrown));
}
