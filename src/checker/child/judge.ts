/**
 * Turns the compiler's diagnostics into mistakes about the API. A diagnostic counts only if its code is listed below and
 * it is about a tool, its arguments or its result.
 */

import type { Node, SourceFile } from "typescript/unstable/ast";
import type { Diagnostic } from "typescript/unstable/sync";

import { defined } from "../../domain/index.ts";
import type { Fix, Mistake } from "../wire.ts";
import { SHIFT } from "./compiler.ts";
import type { CompiledProgram } from "./compiler.ts";
import { judgeArgument } from "./judge-argument.ts";
import { judgeIteration, judgeOperand } from "./judge-await.ts";
import { judgeComparison } from "./judge-comparison.ts";
import { hasFixedIndex, judgeIndexes } from "./judge-index.ts";
import { judgeCallee, judgeName, judgeProperty } from "./judge-property.ts";
import { createOrigins } from "./origin.ts";
import type { Origins } from "./origin.ts";
import { nodeAt } from "./tree.ts";

/** The input of every judge: the diagnostic, its node, and access to types. */
export interface ApiDiagnostic {
  readonly file: SourceFile;
  readonly diagnostic: Diagnostic;
  readonly node: Node;
  readonly origins: Origins;
}

type Judge = (complaint: ApiDiagnostic) => Mistake | undefined;

/** A longer list does not help. */
const MAX_MISTAKES = 20;
/** A hostile program could cause tens of thousands of diagnostics, and judging one calls the compiler. */
const MAX_JUDGED = 200;

const JUDGES: ReadonlyMap<number, Judge> = new Map<number, Judge>([
  ...group([2339, 2551], judgeProperty),
  ...group([2304, 2552], judgeName),
  ...group([2348, 2349, 2351], judgeCallee),
  ...group([2322, 2345, 2353, 2554, 2559, 2560, 2561, 2739, 2740, 2741, 2769, 2820], judgeArgument),
  ...group([2461, 2488, 2495, 2548, 2549], judgeIteration),
  ...group([2362, 2363, 2365], judgeOperand),
  ...group([2367, 2678], judgeComparison),
]);

function group(codes: readonly number[], judge: Judge): readonly (readonly [number, Judge])[] {
  return codes.map((code) => [code, judge] as const);
}

/** In source order; one mistake per position. */
export function judge(compiled: CompiledProgram): readonly Mistake[] {
  const { project, programFile, text } = compiled;
  const complaints = compiled.diagnostics.filter(({ code }) => JUDGES.has(code)).slice(0, MAX_JUDGED);
  const isIndexed = hasFixedIndex(text);
  const file = complaints.length === 0 && !isIndexed ? undefined : project.program.getSourceFile(programFile);
  if (!file) return [];
  const origins = createOrigins(compiled);
  const found = new Map<number, Mistake>();
  for (const diagnostic of complaints) {
    const node = nodeAt(file, diagnostic.pos, diagnostic.end);
    const mistake = JUDGES.get(diagnostic.code)?.({ file, diagnostic, node, origins });
    if (mistake && !found.has(mistake.start)) found.set(mistake.start, mistake);
    if (found.size >= MAX_MISTAKES) break;
  }
  for (const mistake of isIndexed ? judgeIndexes({ file, origins }) : []) found.set(mistake.start, mistake);
  const sorted = [...found.values()].toSorted((a, b) => a.start - b.start).slice(0, MAX_MISTAKES);
  return sorted.map((mistake) => shift({ ...mistake, doubtful: isDoubtful(mistake, sorted) }));
}

/** A field or tool that the program tests somewhere is doubtful everywhere. */
function isDoubtful(mistake: Mistake, all: readonly Mistake[]): boolean {
  const isSame = ({ kind, name, detail }: Mistake): boolean =>
    (kind === "unknown-field" || kind === "unknown-tool") && name === mistake.name && detail === mistake.detail;
  return mistake.doubtful || (isSame(mistake) && all.some((other) => isSame(other) && other.doubtful));
}

/** Converts offsets in the checked file to offsets in the program. */
function shift({ start, fix, loopFix, ...mistake }: Mistake): Mistake {
  const move = (one: Fix): Fix => ({ ...one, start: one.start - SHIFT, end: one.end - SHIFT });
  return defined({ ...mistake, start: start - SHIFT, fix: fix && move(fix), loopFix: loopFix && move(loopFix) });
}
