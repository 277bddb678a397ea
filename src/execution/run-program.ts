/** Runs a program in the sandbox, from its start or from where an earlier run was suspended. */

import { rootOf } from "../bridge/index.ts";
import type { Bridge } from "../bridge/index.ts";
import { GloveboxError, defined } from "../domain/index.ts";
import type { CatalogSnapshot, ExecutionResult, LogLine, Program } from "../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../sandbox/index.ts";
import { SECOND_MS, ownerOf, runInSlices } from "../timing/index.ts";

import type { ExecutionDeps, ProgramRun, RunProgram } from "./deps.ts";
import { createEvidence } from "./evidence/find-evidence.ts";
import type { FindEvidence } from "./evidence/find-evidence.ts";
import type { ExecutionOpening } from "./execution-log.ts";
import { keepLarge } from "./kept-results.ts";
import { openProgramTape, openSkillLife } from "./program-tapes.ts";
import type { ProgramStart } from "./program-tapes.ts";
import { recordDeliveries } from "./record-deliveries.ts";
import type { DeliveryRecord } from "./record-deliveries.ts";
import type { ExecutionRequest } from "./requests.ts";
import { openBesideCheck } from "./run/check-beside.ts";
import { createSkillCaller } from "./run/call-skill.ts";
import { explainLost, explainNumbers } from "./run/explain-lost.ts";
import { explainJoined, explainJoinedCall } from "./run/explain-joined.ts";
import { explainUndefined, watchReplies } from "./run/explain-undefined.ts";
import type { SeenReplies } from "./run/explain-undefined.ts";
import { describeMet } from "./run/probe-error.ts";
import { settleResult } from "./settle.ts";
import type { SettleDeps } from "./settle.ts";
import { createSuspensionDetector } from "./suspend/detect-suspension.ts";
import { createInputWaits } from "./input-waits.ts";
import { createApprovalWait } from "./suspend/wait-for-approval.ts";
import type { ApprovalWaitOptions } from "./suspend/wait-for-approval.ts";

type Needed =
  | "analyze"
  | "approvals"
  | "bridge"
  | "evidence"
  | "graceMs"
  | "hasNetwork"
  | "keepValue"
  | "run"
  | "skills"
  | "tokensOf";

export interface ProgramDeps extends SettleDeps, Pick<ExecutionDeps, Needed> {
  /** Fires when the gateway is about to close: programs that only wait are suspended. */
  readonly leaving: AbortSignal;
}

/** A client without forms cannot ask its user, so it is told soon that a call waits. */
const UNATTENDED_GRACE_MS = SECOND_MS;

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
  const [{ execution, journal }, { principal, limits }] = [opening, request];
  const check = checking && openBesideCheck(checking, request, journal);
  const { signal, onEvent } = check ?? request;
  const ended = new AbortController();
  const { approvals, leaving } = deps;
  const stay = { graceMs: graceOf(request, deps), canSuspend: (): boolean => journal.isWhole() };
  const suspension = createSuspensionDetector({ ...stay, limits, leaving, ended: ended.signal });
  const waiting = createApprovalWait({
    approvals,
    suspension,
    ended: ended.signal,
    labels: () => bridge.labels(),
    plan: () => bridge.plan,
    // Replays run the program only: what a skill sends is not compared.
    findEvidence: (call) => (rootOf(call.seq) === call.seq ? findEvidence?.(call) : undefined),
    ...defined({ session: principal.session, onEvent, ...attend(request) }),
  });
  const { onCalls, suspend, waiting: forPeople } = suspension;
  const life = openSkillLife(opening, recording, suspension);
  const { callSkill, charge } = createSkillCaller(execution, request, deps, life);
  const optional = defined({ asked, callSkill, whenChecked: check?.whenChecked });
  const { approve, askInput } = waiting;
  const hooks = { signal: ended.signal, approve, askInput, journal, onCalls, ...optional };
  const bridge = deps.bridge(opening, snapshot, { ...request, ...defined({ onEvent }), program }, hooks);
  const more = defined({ secrets: deps.tokensOf?.(execution), isUnchecked: check?.isUnchecked });
  const known = { program, snapshot, network: deps.hasNetwork(request), labels: bridge.labels(), ...more };
  const started = recording?.started ?? describeStart(known);
  const record = recordDeliveries(openProgramTape(opening, recording, { bridge, started, onStart: suspension.start }));
  const watched = { started, program, snapshot, bridge, taken: record.taken };
  const findEvidence = watchFlows({ ...request, signal: ended.signal }, watched, deps.evidence);
  const replies = watchReplies(bridge, program);
  const waits = { forPeople, suspend, watchHolds: joinHolds(suspension.watchStill, check?.watchHolds) };
  const job: SandboxJob = {
    ...describeJob({ ...request, signal, ...defined({ onEvent }) }, started),
    program,
    host: replies,
    tape: record.tape,
    suspend: suspension.signal,
    onTimers: life.timers(),
    waits,
    isResumed: recording !== undefined,
  };
  // Pending calls are given up before the result is written, also when the sandbox breaks.
  const ran = charge(await deps.run(job, request.signal).finally(() => ended.abort(PROGRAM_ENDED)));
  const checked = check ? await check.settle({ program, ran }) : { program, ran };
  await bridge.recorded();
  const told = explainResult(checked, { ...replies, snapshot, input: request.input });
  const met = await describeMet(told.ran, { ...describeJob(request, started), program }, { record, deps });
  const outcome = { ...told, bridge, pending: waiting.pending(), ...defined({ met }) };
  const settled = await runInSlices(settleResult(execution, outcome, deps), ownerOf(principal));
  if (settled.state !== "paused" && waiting.hasAsked()) await approvals.withdraw(execution.id);
  return keepLarge(settled, limits, (value) =>
    deps.keepValue({ principal: principal.id, execution: execution.id, labels: bridge.labels() }, value),
  );
}

type WatchHolds = NonNullable<NonNullable<SandboxJob["waits"]>["watchHolds"]>;

/** The program's time stands still while any of them says so. */
function joinHolds(...all: readonly (WatchHolds | undefined)[]): WatchHolds {
  return (listener) => {
    const held = new Set<WatchHolds>();
    for (const watch of all)
      watch?.((isHeld) => {
        if (isHeld) held.add(watch);
        else held.delete(watch);
        listener(held.size > 0);
      });
  };
}

function attend({ inputs, hasForms, hasUrls }: ExecutionRequest): Pick<ApprovalWaitOptions, "inputs" | "unattendedMs"> {
  return {
    inputs: inputs ?? createInputWaits((approval) => approval),
    unattendedMs: (mode) => ((mode === "url" ? hasUrls : hasForms) ? undefined : UNATTENDED_GRACE_MS),
  };
}

function graceOf({ hasForms }: ExecutionRequest, { graceMs }: ProgramDeps): number {
  return hasForms === true ? graceMs : Math.min(graceMs, UNATTENDED_GRACE_MS);
}

interface WatchedProgram extends Pick<ProgramRun, "program" | "snapshot">, Pick<DeliveryRecord, "taken"> {
  readonly started: ProgramStart;
  readonly bridge: Bridge;
}

/** Returns what finds evidence about calls of the program; `undefined` if the gateway has none. */
function watchFlows(
  request: ExecutionRequest,
  { started, program, bridge, ...known }: WatchedProgram,
  deps: ExecutionDeps["evidence"],
): FindEvidence | undefined {
  const { onLog: _, ...job } = { ...describeJob(request, started), program };
  const [calls, plan, labels] = [() => bridge.records(), () => bridge.plan, () => bridge.labels()];
  return deps && createEvidence(deps, { ...known, job, calls, plan, labels });
}

/** Adds findings about parts of the result that are undefined or became text. */
function explainResult<Outcome extends Pick<ProgramRun, "program"> & { readonly ran: SandboxResult }>(
  outcome: Outcome,
  context: Parameters<typeof explainUndefined>[2] & Pick<SeenReplies, "joined" | "wasRead">,
): Outcome {
  const { program, ran } = outcome;
  if (ran.ending.kind !== "returned") return outcome;
  const { value } = ran.ending;
  const missing = explainUndefined(program, value, context);
  const lost = missing.length > 0 ? [] : explainLost(program, value, context);
  const numbers = missing.length + lost.length > 0 ? [] : explainNumbers(program, value);
  const joined = [...explainJoinedCall(program, context.joined()), ...explainJoined(program, value, context.wasRead())];
  const found = [...missing, ...lost, ...numbers, ...joined];
  return found.length === 0
    ? outcome
    : { ...outcome, program: { ...program, findings: [...program.findings, ...found] } };
}

/** What the sandbox is told of a request, and of the start of its program. */
function describeJob(
  { principal, limits, input, signal, onEvent }: ExecutionRequest,
  { namespaces, network, secrets }: ProgramStart,
): Pick<SandboxJob, "namespaces" | "limits" | "principal" | "signal"> & Partial<SandboxJob> {
  const onLog = onEvent && ((line: LogLine): void => onEvent({ kind: "log", line }));
  const optional = defined({ network: network ? true : undefined, onLog, secrets, input, session: principal.session });
  return { namespaces, limits, principal: principal.id, signal, ...optional };
}

/** Without the source, which the request has, and the summaries of servers, which programs cannot see. */
function describeStart({
  program,
  snapshot,
  ...known
}: Pick<ProgramRun, "program" | "snapshot"> & Omit<ProgramStart, "program" | "namespaces">): ProgramStart {
  const { mentioned: _mentioned, reads: _reads, spelled: _spelled, ...kept } = program;
  return {
    ...known,
    program: { ...kept, source: "", checkable: "" },
    namespaces: snapshot.namespaces.map((namespace) => ({ ...namespace, summary: "" })),
    ...defined({ skills: findSkills(program, snapshot) }),
  };
}

function findSkills({ calls }: Program, { tools }: CatalogSnapshot): ProgramStart["skills"] {
  const named = new Set(calls.flatMap(({ address }) => (address === "dynamic" ? [] : [address])));
  const used = [...named].flatMap((address) => tools.get(address) ?? []);
  const skills = used.filter(({ origin }) => origin.kind === "skill").map((tool) => [tool.address, tool.digest]);
  return skills.length === 0 ? undefined : Object.fromEntries(skills);
}
