/** Runs jobs of resumed executions: no client is there to retry, so they wait where others are refused. */

import { setTimeout as sleep } from "node:timers/promises";

import type { SandboxResult } from "../../sandbox/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import { gatewayClosing } from "./find-unchanged.ts";

const POLL_MS = 100;

/** Runs a job once the sandbox has a free place. Throws `UpstreamUnavailable` when the gateway closes first. */
export function retryWhileBusy({
  run,
  leaving,
}: Pick<ExecutionDeps, "run"> & { readonly leaving: AbortSignal }): ExecutionDeps["run"] {
  return async (job) => {
    let ran = await run(job);
    while (isRefused(ran) && !job.signal.aborted) {
      await sleep(POLL_MS, undefined, { signal: job.signal }).catch(() => undefined);
      ran = await run(job);
    }
    if (leaving.aborted && ran.usage.wallMs === 0) throw gatewayClosing();
    return ran;
  };
}

/** The sandbox returns LIMIT_BUSY only for a program that has not started. */
function isRefused({ ending }: SandboxResult): boolean {
  return ending.kind === "failed" && ending.error.code === "LIMIT_BUSY";
}
