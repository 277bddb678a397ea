/** Loops without an exit, and loops inside loops. */

import type { AnyNode } from "acorn";
import { createFailureTest } from "./may-fail.ts";
import { createStuckTest } from "./stuck-loops.ts";
import type { StuckReason } from "./stuck-loops.ts";
import { isLoop, withinFunction } from "../surroundings.ts";
import type { Enclosure } from "../surroundings.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/**
 * A loop without an exit runs until a limit stops the execution, and its work is lost. Checks loops whose condition is
 * always true, or stays true once it is, for something that can end them.
 */
export const noInfiniteLoop: AnalysisRule = {
  name: "no-infinite-loop",
  severity: "error",
  check: (syntax) => {
    const findReason = createStuckTest(syntax);
    const endless = syntax.tree.nodes.flatMap((loop) => {
      if (!isLoop(loop)) return [];
      const reason = holdsForever(loop, syntax) ? ({ kind: "constant" } as const) : findReason(loop);
      return reason ? [{ loop, reason }] : [];
    });
    if (endless.length === 0) return [];
    const left = findLeftLoops(syntax);
    return endless
      .filter(({ loop }) => !left.has(loop))
      .map(({ loop, reason }): Objection => ({ offset: loop.start, ...explain(reason) }));
  },
};

function explain(reason: StuckReason | { readonly kind: "constant" }): Pick<Objection, "message" | "fix"> {
  switch (reason.kind) {
    case "constant": {
      const message =
        "this loop has no way out: its condition always holds, and nothing in it breaks, returns or fails";
      return { message, fix: "add a condition that becomes false, or a `break`" };
    }
    case "still":
      return {
        message: "this loop cannot end: nothing in it changes its condition, breaks, returns or fails",
        fix: "change what the condition reads, or add a `break`",
      };
    case "clock":
      return {
        message: "this loop cannot end: the clock stands still until the program waits for something",
        fix: "wait with `await new Promise((done) => setTimeout(done, ms))`",
      };
    case "counter":
      return {
        message: `this loop cannot end: \`${reason.name}\` moves away from its bound, and nothing else ends the loop`,
        fix: `change \`${reason.name}\` in the other direction, or turn the comparison around`,
      };
    default:
      return reason satisfies never;
  }
}

/** Nested loops multiply their steps. Off by default: most are short. Within one function; callbacks do not count. */
export const noNestedLoops: AnalysisRule = {
  name: "no-nested-loops",
  severity: "off",
  check: ({ tree, around }) =>
    tree.nodes
      .filter((node) => isLoop(node) && withinFunction(around(node)).some(({ kind }) => kind === "loop"))
      .map(({ start: offset }): Objection => ({
        offset,
        message: "this loop runs inside another one, so its steps multiply",
        fix: "index one of the lists with a Map or Object.groupBy, or move the inner loop into a function",
      })),
};

function holdsForever(loop: AnyNode, { folder }: ProgramSyntax): boolean {
  if (loop.type === "ForStatement") return !loop.test || folder.truthOf(loop.test) === true;
  if (loop.type !== "WhileStatement" && loop.type !== "DoWhileStatement") return false;
  return folder.truthOf(loop.test) === true;
}

/** Loops with a possible exit. */
function findLeftLoops(syntax: ProgramSyntax): ReadonlySet<AnyNode> {
  const left = new Set<AnyNode>();
  const mayFail = createFailureTest(syntax);
  for (const node of syntax.tree.nodes) {
    if (node.type === "BreakStatement" || node.type === "ContinueStatement") leaveByJump(node, syntax, left);
    else if (node.type === "ReturnStatement" || node.type === "YieldExpression")
      leaveAll(syntax.around(node), left, true);
    else if (node.type === "ThrowStatement" || mayFail(node)) leaveAll(syntax.around(node), left, false);
  }
  return left;
}

/** Climbs to the enclosing function; an exception stops at the `try` that catches it. */
function leaveAll(from: Enclosure | undefined, left: Set<AnyNode>, isReturn: boolean): void {
  for (const { kind, node } of withinFunction(from)) {
    if (kind === "guard" && !isReturn) return;
    if (kind === "loop") left.add(node);
  }
}

function leaveByJump(node: AnyNode, { tree, around }: ProgramSyntax, left: Set<AnyNode>): void {
  if (node.type !== "BreakStatement" && node.type !== "ContinueStatement") return;
  const label = node.label?.name;
  if (label === undefined && node.type === "ContinueStatement") return;
  for (const { kind, node: gate } of withinFunction(around(node))) {
    // A bare `break` ends the innermost loop or `switch`, whichever is nearer.
    if (label === undefined && gate.type === "SwitchCase") return;
    if (kind !== "loop") continue;
    const parent = tree.parentOf(gate);
    const isTarget = parent?.type === "LabeledStatement" && parent.label.name === label;
    if (!isTarget || node.type === "BreakStatement") left.add(gate);
    if (label === undefined || isTarget) return;
  }
}
