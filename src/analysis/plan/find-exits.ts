/** Where a program may leave a function, a loop or a labelled block before its end: what comes after may not run. */

import type { AnyNode } from "acorn";
import type { ProgramSyntax } from "../program-syntax.ts";
import { isLoop } from "../surroundings.ts";

export interface Exits {
  /** Whether something before `node` may leave `callee`, or a block or loop in it that `node` stands in. */
  mayPass(node: AnyNode, callee: AnyNode | undefined): boolean;
}

/** What a jump may skip. */
interface SkippedRange {
  readonly from: number;
  readonly to: number;
}

/** So many jumps in one function are taken for one that skips everything behind the first. */
const MAX_JUMPS = 100;

/** One pass over the tree. */
export function findExits(syntax: Pick<ProgramSyntax, "tree" | "around">): Exits {
  const skipped = new Map<AnyNode | undefined, SkippedRange[]>();
  for (const node of syntax.tree.nodes) {
    const to = endOfTarget(node, syntax);
    if (to === undefined) continue;
    let gate = syntax.around(node);
    while (gate && gate.kind !== "function") gate = gate.outer;
    const known = skipped.get(gate?.node) ?? [];
    skipped.set(gate?.node, known);
    // From its end on: what stands in it runs before it leaves.
    if (known.length <= MAX_JUMPS) known.push({ from: node.end, to: known.length === MAX_JUMPS ? Infinity : to });
  }
  return {
    mayPass: (node, callee) =>
      skipped.get(callee)?.some(({ from, to }) => from <= node.start && node.start < to) ?? false,
  };
}

function endOfTarget(node: AnyNode, { tree }: Pick<ProgramSyntax, "tree">): number | undefined {
  if (node.type === "ReturnStatement" || node.type === "ThrowStatement") return Infinity;
  if (node.type !== "BreakStatement" && node.type !== "ContinueStatement") return undefined;
  const label = node.label?.name;
  for (let at = tree.parentOf(node); at; at = tree.parentOf(at)) {
    if (label !== undefined && at.type === "LabeledStatement" && at.label.name === label) return at.end;
    if (label === undefined && (isLoop(at) || (at.type === "SwitchStatement" && node.type === "BreakStatement")))
      return at.end;
  }
  return Infinity;
}
