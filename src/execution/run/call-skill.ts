/**
 * Runs a skill for a call of it: the approved program in an isolate of its own, with its granted tools and its caller's
 * rules, labels and limits. Calls that the skill makes are calls of the caller's execution.
 */

import { planCalls } from "../../analysis/index.ts";
import { ExecutionSuspended, rootOf } from "../../bridge/index.ts";
import type { CallSkill } from "../../bridge/index.ts";
import { DEFAULT_LIMITS, GloveboxError, defined } from "../../domain/index.ts";
import type { CatalogSnapshot, Execution, Json, Program, PublicError, Tool } from "../../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../../sandbox/index.ts";
import { ownerOf, runInSlices } from "../../timing/index.ts";

import type { ExecutionDeps, OpenedSkill, SkillDeps } from "../deps.ts";
import type { JournaledFrame } from "../journal.ts";
import type { ExecutionRequest } from "../requests.ts";
import { settleResult } from "../settle.ts";
import type { SettleDeps } from "../settle.ts";
import { toThrown } from "./check-beside.ts";

type CallerDeps = SettleDeps & Pick<ExecutionDeps, "analyze" | "skills" | "tokensOf">;

/** What lets skills wait, and continue where they were, as their program does. */
export interface SkillLife extends Pick<SandboxJob, "suspend" | "waits"> {
  /** Returns a listener for the open timers of one run. */
  readonly timers: () => (open: number) => void;
  /** Runs of an earlier run of the program. */
  readonly frames: readonly JournaledFrame[];
  /** The tape of a run. */
  readonly openTape: (run: SkillTape) => NonNullable<SandboxJob["tape"]>;
}

/** One run of a skill, and its earlier one. */
export interface SkillTape {
  readonly seq: number;
  readonly tool: Pick<Tool, "address" | "digest">;
  readonly past: JournaledFrame | undefined;
  readonly bridge: SkillDoor;
}

type SkillDoor = ReturnType<Parameters<CallSkill>[2]["nest"]>;

/** `charge` adds what skills used to what the program used. Without `life` no skill can wait for a person. */
export function createSkillCaller(
  execution: Execution,
  request: ExecutionRequest,
  deps: CallerDeps,
  life?: SkillLife,
): { readonly callSkill?: CallSkill; readonly charge: (ran: SandboxResult) => SandboxResult } {
  const { skills } = deps;
  const spent = { cpuMs: 0, peakMemoryBytes: 0 };
  const charge = (ran: SandboxResult): SandboxResult => {
    const { cpuMs, peakMemoryBytes } = ran.usage;
    const peak = Math.max(peakMemoryBytes, spent.peakMemoryBytes);
    return { ...ran, usage: { ...ran.usage, cpuMs: cpuMs + spent.cpuMs, peakMemoryBytes: peak } };
  };
  if (!skills) return { charge };
  const note = ({ usage }: SandboxResult): void => {
    spent.cpuMs += usage.cpuMs;
    spent.peakMemoryBytes = Math.max(spent.peakMemoryBytes, usage.peakMemoryBytes);
  };
  const callSkill: CallSkill = async (tool, args, how) => {
    await how.enter();
    try {
      if (life?.suspend?.aborted) throw new ExecutionSuspended();
      if (how.signal.aborted)
        throw new GloveboxError("REQUEST_CANCELLED", `The program ended before ${tool.address} ran`);
      const skill = await skills.open(tool, how.snapshot);
      const left = request.limits.cpuMs - spent.cpuMs;
      if (left < 1) throw cpuSpent(tool, request.limits.cpuMs);
      const run = { tool, args, skill, how, cpuMs: Math.ceil(left), note };
      return await runSkill(run, { execution, request, deps, skills, life });
    } finally {
      how.leave();
    }
  };
  return { callSkill, charge };
}

interface SkillRun {
  readonly tool: Tool;
  readonly args: Json;
  readonly skill: OpenedSkill;
  readonly how: Parameters<CallSkill>[2];
  readonly cpuMs: number;
  readonly note: (ran: SandboxResult) => void;
}

interface SkillContext {
  readonly execution: Execution;
  readonly request: ExecutionRequest;
  readonly deps: CallerDeps;
  readonly skills: SkillDeps;
  readonly life: SkillLife | undefined;
}

async function runSkill(
  { tool, args, skill, how, cpuMs, note }: SkillRun,
  { execution, request, deps, skills, life }: SkillContext,
): Promise<Json> {
  const { principal } = request;
  const limits = { ...request.limits, cpuMs };
  const { snapshot } = skill;
  const program = analyzeSkill(tool, skill, { request, deps });
  const ended = new AbortController();
  const plan = planCalls(program.calls, snapshot, program.start);
  const past = life?.frames.find(({ seq }) => seq === how.seq);
  const { powers } = skill;
  const own = { snapshot, plan, powers, signal: AbortSignal.any([how.signal, ended.signal]) };
  const bridge = how.nest({ ...own, frame: past?.frame, firstFree: findFreeFrame(life?.frames, how.root) });
  const { namespaces } = snapshot;
  const client = { principal: principal.id, signal: how.signal, ...defined({ session: principal.session }) };
  const { suspend, waits } = life ?? {};
  const onTimers = life?.timers();
  const tape = life?.openTape({ seq: how.seq, tool, past, bridge });
  const reach = { network: powers && true, secrets: powers && deps.tokensOf?.(execution, powers.secrets) };
  const more = defined({ suspend, waits, onTimers, tape, isResumed: past && true, ...reach });
  const job = { ...client, program, namespaces, limits, host: bridge, input: args, ...more };
  const ran = await skills.run(how.callers.length + 1, job).finally(() => {
    onTimers?.(0);
    ended.abort();
  });
  note(ran);
  await bridge.settled();
  // What it may have returned by then was not delivered: it returns it again when the program resumes.
  if (suspend?.aborted) throw new ExecutionSuspended();
  const outcome = { program, bridge: { ...bridge, dryRun: () => undefined }, ran };
  const settled = await runInSlices(settleResult(execution, outcome, deps), ownerOf(principal));
  if (settled.state === "completed") return settled.value ?? null;
  throw toFailure(tool, settled.error);
}

/** The first number that no earlier run within the call of the program has. */
function findFreeFrame(frames: readonly JournaledFrame[] = [], root: number): number {
  const taken = frames.filter(({ seq }) => rootOf(seq) === root);
  return Math.max(-1, ...taken.map(({ frame }) => frame)) + 1;
}

/** The code was approved; the analysis makes it a program, and finds what it can call. */
function analyzeSkill(
  tool: Tool,
  { source, snapshot }: OpenedSkill,
  { request, deps }: Pick<SkillContext, "request" | "deps">,
): Program {
  const surface = { snapshot: snapshot.digest, declarations: "", namespaces: snapshot.namespaces };
  const { signal, principal } = request;
  const limits = { ...request.limits, sourceBytes: DEFAULT_LIMITS.sourceBytes };
  const analyzed = deps.analyze({ source, limits, signal, principal }, surface);
  if (analyzed.ok) return analyzed.program;
  throw toFailure(tool, analyzed.error);
}

/** The positions are those of the skill, which its caller cannot see. */
function toFailure(tool: Tool, error: PublicError | undefined): GloveboxError {
  if (!error) return new GloveboxError("REQUEST_CANCELLED", `The program ended before ${tool.address} answered`);
  const { line: _, column: __, frame: ___, message, ...rest } = error;
  return toThrown({ ...rest, message: `${tool.address} failed: ${message}` });
}

function cpuSpent({ address }: Tool, cpuMs: number): GloveboxError {
  return new GloveboxError(
    "LIMIT_TIME",
    `The skills of this program used all of its ${cpuMs} ms (cpuMs) before ${address}`,
    {
      hint: "Call fewer skills in one program",
    },
  );
}

/** Before a program runs: the first skill that it names and that cannot be called. */
export function findRefusedSkill(
  { calls }: Pick<Program, "calls">,
  { refused }: Pick<CatalogSnapshot, "refused">,
): PublicError | undefined {
  for (const { address, line, column } of calls) {
    const refusal = address === "dynamic" ? undefined : refused?.get(address);
    if (refusal) return { ...refusal, retry: false, line, column };
  }
  return undefined;
}
