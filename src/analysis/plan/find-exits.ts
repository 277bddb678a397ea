/** Where a program may leave a function, a loop or a labeled block early, so that later code may not run. */

import type { AnyNode } from "acorn";
import type { ProgramSyntax } from "../program-syntax.ts";
import { functionAround, isLoop } from "../surroundings.ts";

/** Whether a jump before `node` may leave `callee`, or a block or loop around `node`. */
type MayPass = (node: AnyNode, callee: AnyNode | undefined) => boolean;

/** Beyond this many jumps in one function, everything after them counts as skippable. */
const MAX_JUMPS = 100;

/** Takes one pass over the tree. */
export function findExits(syntax: Pick<ProgramSyntax, "tree" | "around">): MayPass {
  /** For each function, the ranges that its jumps may skip. */
  const skipped = new Map<AnyNode | undefined, { readonly from: number; readonly to: number }[]>();
  for (const node of syntax.tree.nodes) {
    const to = endOfTarget(node, syntax);
    if (to === undefined) continue;
    const callee = functionAround(syntax.around(node));
    const known = skipped.get(callee) ?? [];
    skipped.set(callee, known);
    // From its end on: its operand runs before the jump.
    if (known.length <= MAX_JUMPS) known.push({ from: node.end, to: known.length === MAX_JUMPS ? Infinity : to });
  }
  return (node, callee) => skipped.get(callee)?.some(({ from, to }) => from <= node.start && node.start < to) ?? false;
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
