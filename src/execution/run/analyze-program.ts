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

/** Analysis depends on the names of upstreams only, which are known before any of them is ready. */
export async function analyzeProgram(
  request: ExecutionRequest,
  deps: AnalyzeDeps,
): Promise<{ readonly analyzed: AnalysisResult; readonly snapshot: CatalogSnapshot }> {
  const take = (needed: NeededServers): Promise<CatalogSnapshot> =>
    unlessCancelled(deps.snapshot(request.principal, needed), request.signal);
  let snapshot = await take([]);
  const analyzed = deps.analyze(request, deps.declare(snapshot));
  for (const needed of analyzed.ok ? findNeeds(analyzed.program, snapshot) : []) snapshot = await take(needed);
  return { analyzed, snapshot };
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
  { calls, javascript }: Pick<Program, "calls" | "javascript">,
  { namespaces }: Pick<CatalogSnapshot, "namespaces">,
): readonly NeededServers[] {
  if (calls.some(({ address, namespace }) => address === "dynamic" && namespace === undefined)) return ["all"];
  const called = new Set(calls.map(({ address, namespace }) => namespace ?? address.split(".", 1).join()));
  const words = new Set(javascript.match(WORD));
  const names = namespaces.map(({ name }) => name).filter((name) => called.has(name) || words.has(name));
  return [...(words.has(BUILTINS) ? ["some" as const] : []), ...(names.length > 0 ? [names] : [])];
}
