/** Analyzes a program, and then waits for the upstreams that it can reach: no other one delays it. */

import type { AnalysisResult } from "../../analysis/index.ts";
import type { NeededServers } from "../../catalog/index.ts";
import type { CatalogSnapshot, Program } from "../../domain/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import type { ExecutionRequest } from "../requests.ts";
import { unlessCancelled } from "../running-table.ts";
import { toThrown } from "./check-beside.ts";

/** The global that searches and describes the tools of all upstreams. */
const BUILTINS = "glovebox";

/** Whole names only: a server can be named `h`. */
const WORD = /[\p{ID_Continue}$]+/gu;

type AnalyzeDeps = Pick<ExecutionDeps, "analyze" | "declare" | "snapshot">;

/** Analysis needs only the names of upstreams, which are known before any of them is ready, and rarely effects. */
export async function analyzeProgram(
  request: ExecutionRequest,
  deps: AnalyzeDeps,
): Promise<{ readonly analyzed: AnalysisResult; readonly snapshot: CatalogSnapshot }> {
  const take = (needed: NeededServers): Promise<CatalogSnapshot> =>
    unlessCancelled(deps.snapshot(request.principal, needed), request.signal);
  let snapshot = await take([]);
  const surface = deps.declare(snapshot);
  const analyzed = deps.analyze(request, surface);
  const needsEffects = dependsOnEffects(analyzed, snapshot);
  const refused = needsEffects ? [{ calls: [], mentioned: request.source.match(WORD) ?? [] }] : [];
  const needs = analyzed.ok
    ? findNeeds(analyzed.program, snapshot)
    : refused.flatMap((one) => findNeeds(one, snapshot));
  for (const needed of needs) snapshot = await take(needed);
  const known = needsEffects ? deps.declare(snapshot) : surface;
  return { analyzed: withNotes(known === surface ? analyzed : deps.analyze(request, known), request), snapshot };
}

/** This rule is about tools that only read, and which those are is unknown until their server is ready. */
const EFFECT_RULE = "no-tool-in-loop";

/** Also if a server that the program calls was not ready: a call that may change something must be awaited. */
function dependsOnEffects(analyzed: AnalysisResult, { namespaces }: Pick<CatalogSnapshot, "namespaces">): boolean {
  const { findings } = analyzed.ok ? analyzed.program : analyzed;
  const empty = namespaces.filter(({ tools }) => tools.length === 0).map(({ name }) => name);
  const isEmpty = ({ address, namespace }: Program["calls"][number]): boolean =>
    empty.includes(namespace ?? address.split(".", 1).join());
  return findings.some(({ rule }) => rule === EFFECT_RULE) || (analyzed.ok && analyzed.program.calls.some(isEmpty));
}

function withNotes(analyzed: AnalysisResult, { notes = [] }: Pick<ExecutionRequest, "notes">): AnalysisResult {
  if (notes.length === 0) return analyzed;
  if (!analyzed.ok) return { ...analyzed, findings: [...notes, ...analyzed.findings] };
  const { program } = analyzed;
  return { ok: true, program: { ...program, findings: [...notes, ...program.findings] } };
}

/** For a program that started before its verdict, and whose process ended. Rejects with PROGRAM_TYPES if it does not fit. */
export function createRecheck(
  deps: AnalyzeDeps & Pick<ExecutionDeps, "check">,
): (program: Program, request: ExecutionRequest) => Promise<Program> {
  return async (program, request) => {
    const { analyzed, snapshot } = await analyzeProgram(request, deps);
    const checking = analyzed.ok ? deps.check(analyzed.program, request, snapshot) : analyzed;
    const checked = await unlessCancelled(Promise.resolve(checking), request.signal);
    if (!checked.ok) throw toThrown(checked.error);
    return { ...program, findings: checked.program.findings };
  };
}

/** A program also needs a namespace that it mentions without a call, because it can list its tools. */
function findNeeds(
  { calls, mentioned = [] }: Pick<Program, "calls" | "mentioned">,
  { namespaces }: Pick<CatalogSnapshot, "namespaces">,
): readonly NeededServers[] {
  if (calls.some(({ address, namespace }) => address === "dynamic" && namespace === undefined)) return ["all"];
  const called = new Set(calls.map(({ address, namespace }) => namespace ?? address.split(".", 1).join()));
  const names = namespaces.map(({ name }) => name).filter((name) => called.has(name) || mentioned.includes(name));
  return [...(mentioned.includes(BUILTINS) ? ["some" as const] : []), ...(names.length > 0 ? [names] : [])];
}
