/**
 * Evidence for a person who is asked about a flow of data: the program is replayed with other data in place of what it
 * read, and the call is compared. It relaxes nothing, costs a bounded time, and its failure changes nothing.
 */

import { findConstantArguments } from "../../analysis/index.ts";
import { canonicalJson, parseJson, parseToolAddress } from "../../domain/index.ts";
import type { CallPlan, CallRecord, CatalogSnapshot, LabelSource, ToolCall } from "../../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../../sandbox/index.ts";

import type { EvidenceDeps } from "../deps.ts";
import type { DeliveryRecord } from "../record-deliveries.ts";
import { compareRounds } from "./compare-rounds.ts";
import type { ReplacedSource, ReplayEvidence, Round } from "./compare-rounds.ts";
import { createReplacer } from "./replace-values.ts";
import type { ReplacementStyle } from "./replace-values.ts";
import { replayRound } from "./replay-round.ts";
import type { MadeCall, ReplayScript } from "./replay-round.ts";

/** A program that has received more is not replayed. */
export const MOST_BYTES = 512 * 1024;

/** What is known of a program that runs. */
export interface EvidenceContext {
  readonly job: Omit<SandboxJob, "tape" | "host">;
  readonly taken: DeliveryRecord["taken"];
  readonly calls: () => readonly Pick<CallRecord, "seq" | "tool">[];
  readonly snapshot: Pick<CatalogSnapshot, "tools">;
  readonly plan: () => CallPlan | undefined;
  readonly labels: () => readonly LabelSource[];
}

/** Returns the evidence about one call, or why there is none. Never rejects. */
export type FindEvidence = (call: ToolCall) => Promise<ReplayEvidence>;

interface Replays {
  readonly usual: readonly MadeCall[];
  readonly rounds: readonly Round[];
}

/** Calls that wait at the same time share their replays. */
export function createEvidence(deps: EvidenceDeps, context: EvidenceContext): FindEvidence {
  if (deps.settings.evidenceMs > 0 && deps.settings.evidenceRounds > 0 && isLikelyAsked(context)) deps.prepare();
  let known: { readonly at: number; readonly replays: Promise<Replays | string> } | undefined;
  const replayAt = (script: ReplayScript, sources: readonly ReplacedSource[]): Promise<Replays | string> => {
    if (known?.at !== script.past.length)
      known = { at: script.past.length, replays: replayAll(script, sources, { deps, context }) };
    return known.replays;
  };
  const find: FindEvidence = async (call) => {
    const { evidenceMs, evidenceRounds } = deps.settings;
    if (evidenceMs === 0 || evidenceRounds === 0) return none("approvals.evidenceMs or approvals.evidenceRounds is 0");
    const script = toScript(context);
    if (typeof script === "string") return none(script);
    const sources = findSources(script, context.snapshot);
    if (sources.length === 0) return none(NOTHING_READ);
    const replays = await replayAt(script, sources);
    if (typeof replays === "string") return none(replays);
    if (!repeats(replays.usual[call.seq - 1], call)) return none("the replay did not repeat the call");
    const texts = new Map(script.past.flatMap(({ kind, id, text }) => (kind === "tick" ? [] : [[id, text] as const])));
    return compareRounds({
      seq: call.seq,
      ...replays,
      wanted: evidenceRounds,
      sources,
      constants: findConstantArguments(context.plan(), call),
      textOf: ({ seq }) => texts.get(seq) ?? "",
      hadRead: context.labels().some(({ execution }) => execution !== call.execution),
      program: context.job.program.source,
    });
  };
  return (call) => find(call).catch(() => none("the replay failed"));
}

const NOTHING_READ =
  "the program itself has read nothing labeled; what the session read before may be in its source or input";

function none(reason: string): ReplayEvidence {
  return { kind: "none", reason };
}

function toScript({ taken, calls }: EvidenceContext): ReplayScript | string {
  const received = taken();
  const bytes = received?.past.reduce((sum, { text }) => sum + text.length, 0) ?? Infinity;
  if (!received || bytes > MOST_BYTES) return `the program has received more than ${MOST_BYTES / 1024} KiB`;
  return { ...received, calls: calls() };
}

/** Replies of tools with a label, and of everything that the catalog does not know, such as kept results. */
function findSources({ past, calls }: ReplayScript, { tools }: EvidenceContext["snapshot"]): readonly ReplacedSource[] {
  const answered = new Set(past.flatMap(({ kind, id }) => (kind === "tick" ? [] : [id])));
  return calls.flatMap(({ seq, tool }) => {
    const address = parseToolAddress(tool);
    const known = address && tools.get(address);
    const isSource = !known || known.labels?.some((label) => label !== "external");
    return isSource && answered.has(seq) ? [{ tool, seq }] : [];
  });
}

/** Whether the program both reads labeled data, or its session has, and can send data out. */
function isLikelyAsked({ plan, snapshot: { tools }, labels }: EvidenceContext): boolean {
  const planned = new Set(plan()?.calls.flatMap(({ tool }) => tools.get(tool)?.labels ?? []));
  return planned.has("external") && (planned.size > 1 || labels().length > 0);
}

function repeats(made: MadeCall | undefined, { address, args }: ToolCall): boolean {
  return made?.tool === address && canonicalJson(parseJson(made.args) ?? null) === canonicalJson(args);
}

/**
 * On a busy machine a replay waits for a processor, which is not its fault: its processor time counts. The approval waits
 * for the replays, so they end after so many times as long in any case.
 */
export const BUSY_FACTOR = 5;

/** Returns why there is nothing to compare as a string. */
async function replayAll(
  script: ReplayScript,
  sources: readonly ReplacedSource[],
  { deps, context }: { readonly deps: EvidenceDeps; readonly context: EvidenceContext },
): Promise<Replays | string> {
  const { run, problem, signal } = createBudget(deps);
  const job = { ...context.job, signal: AbortSignal.any([context.job.signal, signal]) };
  const usual = await replayRound({ script, job, run });
  if (!usual) return problem() ?? "the replay failed";
  const rounds: Round[] = [];
  const [seed = 1] = deps.seed();
  for (const [at, { replaced, style }] of planRounds(sources, deps.settings.evidenceRounds).entries()) {
    const replacer = createReplacer({ style, source: job.program.source, seed: seed + at });
    const seqs = new Set(replaced.map(({ seq }) => seq));
    const made = problem() ?? (await replayRound({ script, job, run, change: { seqs, replacer, usual } }));
    if (made === undefined || typeof made === "string") break;
    rounds.push({ replaced, calls: made.calls });
  }
  return rounds.length > 0 ? { usual: usual.calls, rounds } : (problem() ?? "the replay failed");
}

/** `problem` returns why no further replay may run. */
function createBudget(deps: EvidenceDeps) {
  const { evidenceMs } = deps.settings;
  const busyMs = evidenceMs * BUSY_FACTOR;
  const signal = deps.after(busyMs);
  let leftMs = evidenceMs;
  return {
    signal,
    run: async (job: SandboxJob): Promise<SandboxResult> => {
      const cpuMs = Math.min(job.limits.cpuMs, Math.ceil(leftMs));
      const result = await deps.run({ ...job, limits: { ...job.limits, cpuMs } });
      leftMs -= result.usage.cpuMs;
      return result;
    },
    problem: (): string | undefined => {
      if (leftMs <= 0) return `the replays needed more than ${evidenceMs} ms of processor time`;
      return signal.aborted ? `the machine is busy, and the replays took longer than ${busyMs} ms` : undefined;
    },
  };
}

interface PlannedRound {
  readonly replaced: readonly ReplacedSource[];
  readonly style: ReplacementStyle;
}

/** Two rounds replace everything; the others replace a part each, to find out where a difference comes from. */
export function planRounds(sources: readonly ReplacedSource[], count: number): readonly PlannedRound[] {
  const all: readonly PlannedRound[] = [
    { replaced: sources, style: "similar" },
    { replaced: sources, style: "boundary" },
  ];
  const left = Math.max(0, count - all.length);
  const size = Math.max(1, Math.ceil(sources.length / Math.max(1, left)));
  const parts = Array.from({ length: left }, (_, at): PlannedRound => {
    const part = sources.slice(at * size, (at + 1) * size);
    return part.length > 0 ? { replaced: part, style: "longer" } : { replaced: sources, style: "longer" };
  });
  return [...all, ...parts].slice(0, count);
}
