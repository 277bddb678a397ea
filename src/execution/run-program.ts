/** Runs a program in the sandbox, from its start or from where an earlier run was suspended. */

import { GloveboxError, defined } from "../domain/index.ts";
import type { ExecutionResult, LogLine, Principal } from "../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../sandbox/index.ts";
import { redactValue } from "../text/index.ts";
import { runInSlices } from "../timing/index.ts";

import type { ExecutionDeps, ProgramRun, RunProgram } from "./deps.ts";
import type { ExecutionOpening } from "./execution-log.ts";
import { createTape } from "./journal/create-tape.ts";
import type { JournaledStart } from "./journal.ts";
import { keepLarge } from "./kept-results.ts";
import type { ExecutionRequest } from "./requests.ts";
import { openBesideCheck } from "./run/check-beside.ts";
import { settleResult } from "./settle.ts";
import type { SettleDeps } from "./settle.ts";
import { createSuspensionDetector } from "./suspend/detect-suspension.ts";
import { createApprovalWait } from "./suspend/wait-for-approval.ts";

type Needed = "approvals" | "bridge" | "graceMs" | "hasNetwork" | "keepValue" | "run" | "tokensOf";

export interface ProgramDeps extends SettleDeps, Pick<ExecutionDeps, Needed> {
  /** Fires when the gateway is about to close: programs that only wait are suspended. */
  readonly leaving: AbortSignal;
}

/** Shared by all programs: without a reason, each abort would create an error with a stack trace. */
const PROGRAM_ENDED = new GloveboxError("REQUEST_CANCELLED", "The program has ended");

export function createProgramRunner(deps: ProgramDeps): RunProgram {
  return (opening, request, run) => runProgram(opening, request, { ...run, deps });
}

async function runProgram(
  opening: ExecutionOpening,
  request: ExecutionRequest,
  { deps, snapshot, program, checking, recording, asked }: ProgramRun & { readonly deps: ProgramDeps },
): Promise<ExecutionResult> {
  const { execution, journal } = opening;
  const { principal, limits } = request;
  const check = checking && openBesideCheck(checking, request, journal);
  const { signal, onEvent } = check ?? request;
  const ended = new AbortController();
  const { approvals, graceMs, leaving } = deps;
  const canSuspend = (): boolean => journal.isWhole();
  const suspension = createSuspensionDetector({ graceMs, limits, leaving, ended: ended.signal, canSuspend });
  const waiting = createApprovalWait({
    approvals,
    suspension,
    ended: ended.signal,
    labels: () => bridge.labels(),
    plan: () => bridge.plan,
    ...defined({ session: principal.session, onEvent }),
  });
  const { onCalls } = suspension;
  const optional = defined({ asked, whenChecked: check?.whenChecked });
  const hooks = { signal: ended.signal, approve: waiting.approve, journal, onCalls, ...optional };
  const bridge = deps.bridge(opening, snapshot, { ...request, ...defined({ onEvent }), program }, hooks);
  const started: Omit<JournaledStart, "engine" | "start"> = recording?.started ?? {
    ...describeStart({ program, snapshot }),
    network: deps.hasNetwork(request),
    ...defined({ secrets: deps.tokensOf?.(execution), isUnchecked: check?.isUnchecked }),
    labels: bridge.labels(),
  };
  const onStart = suspension.start;
  const tape = createTape({ journal, bridge, started, onStart, ...defined({ start: opening.start, recording }) });
  const { suspend, onTimers, waiting: forPeople } = suspension;
  const waits = { forPeople, suspend, ...defined({ watchHolds: check?.watchHolds }) };
  const job: SandboxJob = {
    ...describeJob({ ...request, signal, ...defined({ onEvent }) }, started),
    program,
    host: bridge,
    tape,
    suspend: suspension.signal,
    onTimers,
    waits,
    isResumed: recording !== undefined,
  };
  // Pending calls are given up before the result is written, also when the sandbox breaks.
  const ran = await deps.run(job, request.signal).finally(() => ended.abort(PROGRAM_ENDED));
  const checked = check ? await check.settle({ program, ran }) : { program, ran };
  await bridge.recorded();
  const outcome = { ...checked, bridge, pending: waiting.pending() };
  const settled = settleResult(execution, await hideInValue(outcome, deps, principal), deps);
  if (settled.state !== "paused" && waiting.hasAsked()) await approvals.withdraw(execution.id);
  return keepLarge(settled, limits, (value) =>
    deps.keepValue({ principal: principal.id, execution: execution.id, labels: bridge.labels() }, value),
  );
}

/** What the sandbox is told of a request, and of the start of its program. */
function describeJob(
  { principal, limits, input, signal, onEvent }: ExecutionRequest,
  { namespaces, network, secrets }: Omit<JournaledStart, "engine" | "start">,
): Pick<SandboxJob, "namespaces" | "limits" | "principal" | "signal"> & Partial<SandboxJob> {
  const onLog = onEvent && ((line: LogLine): void => onEvent({ kind: "log", line }));
  const optional = defined({ network: network ? true : undefined, onLog, secrets, input, session: principal.session });
  return { namespaces, limits, principal: principal.id, signal, ...optional };
}

/** In slices: a value may have megabytes. */
async function hideInValue<Outcome extends { readonly ran: SandboxResult }>(
  outcome: Outcome,
  deps: SettleDeps,
  { id, session = "" }: Principal,
): Promise<Outcome & { readonly isValueHidden?: true }> {
  const { ending } = outcome.ran;
  if (ending.kind !== "returned" || ending.value === undefined) return outcome;
  const run = Object.assign(<T>(slice: () => T): T => slice(), { owner: { principal: id, session } });
  const value = await runInSlices(redactValue(ending.value, deps.hide), run);
  return { ...outcome, ran: { ...outcome.ran, ending: { ...ending, value } }, isValueHidden: true };
}

/** Without the source, which the request has, and the summaries of servers, which programs cannot see. */
function describeStart({
  program,
  snapshot,
}: Pick<ProgramRun, "program" | "snapshot">): Pick<JournaledStart, "program" | "namespaces"> {
  return {
    program: { ...program, source: "", checkable: "" },
    namespaces: snapshot.namespaces.map((namespace) => ({ ...namespace, summary: "" })),
  };
}
