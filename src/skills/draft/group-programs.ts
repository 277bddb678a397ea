/** Anti-unification over past executions: finds programs of one principal that differ only in literals. */

import { analyze, readMaterial } from "../../analysis/index.ts";
import type { AnalysisOptions } from "../../analysis/index.ts";
import type { ExecutionId, PrincipalId } from "../../domain/index.ts";

export interface PastProgram {
  readonly execution: ExecutionId;
  readonly principal: PrincipalId;
  readonly source: string;
}

/** Longer programs are rarely written twice, and take long to compare. */
const MOST_CHARS = 16_384;
/** What a skill cannot use, or already is. */
const OTHER = /\b(?:glovebox|secrets|skills)\b|\bfetch\s*\(/;

/** Groups of at least `least`, the largest first; of each the newest first, as they were given. */
export function groupPrograms(
  programs: readonly PastProgram[],
  least: number,
  options: AnalysisOptions,
): readonly (readonly PastProgram[])[] {
  // The same text is parsed once.
  const skeletons = new Map<string, string | undefined>();
  const skeletonOf = (source: string): string | undefined => {
    if (!skeletons.has(source)) skeletons.set(source, findSkeleton(source, options));
    return skeletons.get(source);
  };
  const groups = Map.groupBy(programs, ({ principal, source }) => {
    const skeleton = skeletonOf(source);
    return skeleton === undefined ? undefined : `${principal}\n${skeleton}`;
  });
  groups.delete(undefined);
  return [...groups.values()].filter(({ length }) => length >= least).toSorted((a, b) => b.length - a.length);
}

function findSkeleton(source: string, options: AnalysisOptions): string | undefined {
  if (source.length > MOST_CHARS || source.trim() === "" || OTHER.test(source)) return undefined;
  const analyzed = analyze(source, { namespaces: [] }, { ...options, enabled: false });
  return analyzed.ok ? readMaterial(analyzed.program, []).skeleton : undefined;
}
