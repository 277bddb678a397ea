/** Takes one request through the rooms in order: snapshot, declare, analyze, check, run. The check may run beside it. */

import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionResult } from "../../domain/index.ts";
import { findExcess } from "../../text/index.ts";
import { ownerOf, runInSlices } from "../../timing/index.ts";

import type { ExecutionDeps, RunProgram } from "../deps.ts";
import type { ExecutionOpening } from "../execution-log.ts";
import { attributeToQuota, runWithinQuotas } from "../quotas.ts";
import type { ExecutionRequest } from "../requests.ts";
import { unlessCancelled } from "../running-table.ts";
import type { StartedExecution, TableEntry } from "../running-table.ts";
import { markDryRun, settleFailure, settleRefusal, withCancelReason } from "../settle.ts";
import type { SettleDeps } from "../settle.ts";
import { analyzeProgram } from "./analyze-program.ts";
import { findRefusedSkill } from "./call-skill.ts";

/** What an execution needs from its opening to its end. */
export interface RunDeps
  extends
    SettleDeps,
    Pick<ExecutionDeps, "admit" | "analyze" | "check" | "declare" | "log" | "snapshot" | "typeCheck"> {
  readonly runProgram: RunProgram;
}

/** Starts an execution that was opened. It is cancelled if its opening cannot be recorded. */
export function startExecution(
  entry: TableEntry,
  opening: ExecutionOpening,
  request: ExecutionRequest,
  deps: RunDeps,
): StartedExecution {
  const { id } = opening.execution;
  opening.opened.catch(() => entry.cancel());
  return { id, done: entry.start(id, () => runExecution(opening, request, deps)) };
}

/** Closes the execution once, whatever happens; a result is returned only after it was recorded. */
async function runExecution(
  opening: ExecutionOpening,
  request: ExecutionRequest,
  deps: RunDeps,
): Promise<ExecutionResult> {
  const { execution, opened, journal } = opening;
  const { principal, limits: wanted } = request;
  const result = await runWithinQuotas({ execution: execution.id, principal, limits: wanted }, deps.admit, {
    run: async (limits, shortenedBy) =>
      attributeToQuota(await attempt(opening, { ...request, limits }, deps), limits, shortenedBy),
    wallMsOf: ({ stats }) => stats.wallMs,
  }).catch((thrown: unknown) => settleFailure(execution, thrown, deps));
  await opened;
  const whole = withCancelReason(markDryRun(result, request), request.signal);
  // The journal must be on disk before a suspension; for an execution that ended it is useful, but not required.
  if (whole.state === "paused") await journal.flush();
  await Promise.all([journal.write().catch(() => undefined), deps.log.close(execution, whole)]);
  return whole;
}

/** From the source to the result. */
export async function attempt(
  opening: ExecutionOpening,
  request: ExecutionRequest,
  deps: RunDeps,
): Promise<ExecutionResult> {
  await refuseLargeInput(request);
  const { analyzed, snapshot } = await analyzeProgram(request, deps);
  if (!analyzed.ok) return settleRefusal(opening.execution, analyzed, deps);
  const { program } = analyzed;
  const refusal = findRefusedSkill(program, snapshot);
  if (refusal) return settleRefusal(opening.execution, { ok: false, error: refusal, findings: program.findings }, deps);
  const checking = deps.check(program, request, snapshot);
  if (checking instanceof Promise && deps.typeCheck === "beside")
    return deps.runProgram(opening, request, { snapshot, program, checking });
  const checked = checking instanceof Promise ? await unlessCancelled(checking, request.signal) : checking;
  if (!checked.ok) return settleRefusal(opening.execution, checked, deps);
  return deps.runProgram(opening, request, { snapshot, program: checked.program });
}

/** A program may not return anything deeper or wider either. */
async function refuseLargeInput({ input, limits, principal }: ExecutionRequest): Promise<void> {
  if (input === undefined) return;
  const excess = await runInSlices(findExcess(input, limits.depth), ownerOf(principal));
  if (!excess) return;
  const deep = `nests deeper than its limit of ${limits.depth} levels (depth)`;
  const problem = excess.of === "depth" ? deep : `has an object with more than ${excess.most} keys`;
  throw new GloveboxError("LIMIT_SIZE", `The input ${problem}`, { hint: "Send a flatter or smaller value" });
}
