/** For executions that come back: nobody is there who could ask again later, so they wait where others are refused. */

import { setTimeout as sleep } from "node:timers/promises";

import type { SandboxResult } from "../../sandbox/index.ts";

import { gatewayClosing } from "./find-unchanged.ts";
import type { RunDeps } from "../run/run-program.ts";

const LOOK_MS = 100;

/** Runs a job once the sandbox has a place for it. Throws `ServerAway` when the gateway ends before: it waits on. */
export function retryWhileBusy({ run, leaving }: Pick<RunDeps, "run" | "leaving">): RunDeps["run"] {
  return async (job) => {
    let ran = await run(job);
    while (isRefused(ran) && !job.signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal: job.signal }).catch(() => undefined);
      ran = await run(job);
    }
    if (leaving.aborted && ran.usage.wallMs === 0) throw gatewayClosing();
    return ran;
  };
}

/** The sandbox says so of a program that it has not started, and of no other. */
function isRefused({ ending }: SandboxResult): boolean {
  return ending.kind === "failed" && ending.error.code === "LIMIT_BUSY";
}
