/** Executions together with what runs in the background for them, for as long as a gateway is open. */

import { planCalls } from "../analysis/index.ts";
import { tightenLimits } from "../domain/index.ts";
import type { CallPlan, ExecutionId, Finding, PublicError } from "../domain/index.ts";
import { NEVER, pollEvery } from "../timing/index.ts";

import type { ExecutionDeps } from "./deps.ts";
import { createExecutions } from "./executions.ts";
import type { Executions } from "./executions.ts";
import type { ExecuteInput } from "./requests.ts";

/** What a program can call, without running it; or why it cannot run. */
export type ProgramPlan =
  | { readonly ok: true; readonly plan: CallPlan; readonly findings: readonly Finding[] }
  | { readonly ok: false; readonly error: PublicError; readonly findings: readonly Finding[] };

/** Disposing stops the background work and then every execution. */
export interface OpenedExecutions extends Executions, AsyncDisposable {
  /** Analyzes a program only. Nothing runs and nothing is recorded. */
  plan(input: ExecuteInput): Promise<ProgramPlan>;
}

export interface BackgroundOptions {
  readonly everyMs: number;
  /** Called at every poll, to keep the quotas of running executions. */
  readonly noteHeld: () => Promise<void>;
  /** Calls the listener after every decision about an approval. Returns a function to stop. */
  readonly onDecided: (listener: (decided: { readonly execution: ExecutionId }) => void) => () => void;
}

/** Recovers what earlier processes left, polls for cancellations, and resumes executions after decisions. */
export function openExecutions(deps: ExecutionDeps, { everyMs, noteHeld, onDecided }: BackgroundOptions) {
  const executions = createExecutions(deps);
  const polling = pollEvery(everyMs, async () => void (await Promise.all([executions.cancelRequested(), noteHeld()])));
  const recovered = executions.recover().catch((thrown: unknown) => void deps.report(thrown));
  const stopListening = onDecided(({ execution }) => void executions.resumeIfDecided(execution));
  const opened: OpenedExecutions = {
    ...executions,
    plan: (input) => planProgram(deps, input),
    async [Symbol.asyncDispose]() {
      stopListening();
      await polling[Symbol.asyncDispose]();
      await executions.stop();
      await recovered; // so that even a short command closes lost executions
    },
  };
  return opened;
}

async function planProgram(
  deps: Pick<ExecutionDeps, "analyze" | "declare" | "limits" | "snapshot">,
  { limits: wanted = {}, signal = NEVER, ...request }: ExecuteInput,
): Promise<ProgramPlan> {
  const snapshot = await deps.snapshot(request.principal);
  const limits = tightenLimits(deps.limits, wanted);
  const analyzed = deps.analyze({ ...request, signal, limits }, deps.declare(snapshot));
  if (!analyzed.ok) return analyzed;
  const { calls, findings } = analyzed.program;
  return { ok: true, plan: planCalls(calls, snapshot), findings };
}
