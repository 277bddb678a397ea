/** Independent calls in sequence: they take the sum of their times instead of the time of the slowest. */

import type { AnyNode, CallExpression } from "acorn";
import { isWritten } from "../fold.ts";
import { withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { withinFunction } from "../surroundings.ts";
import { calledNamespace, calledTool } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/** Objects only if rounds are independent: the loop iterates a list, never exits early, and only reads. */
export const noToolInLoop: AnalysisRule = {
  name: "no-tool-in-loop",
  severity: "warn",
  check: (syntax) => {
    const calls = syntax.tree.nodes.filter((node): node is CallExpression => isAwaitedTool(node, syntax));
    if (calls.length === 0) return [];
    const ordered = findOrderedLoops(syntax);
    return calls.flatMap((call): Objection[] => {
      const loop = withinFunction(syntax.around(call)).find(({ kind }) => kind === "loop")?.node;
      if (!loop || !goesThroughList(loop) || ordered.has(loop) || needsEarlierRound(call, loop, syntax)) return [];
      const message =
        "each round of this loop waits for the tool call of the round before, though it does not need its result";
      const fix = "call them together: `await Promise.all(list.map((item) => …))`";
      return [{ offset: call.start, message, fix }];
    });
  },
};

function isAwaitedTool(node: AnyNode, syntax: ProgramSyntax): boolean {
  if (node.type !== "CallExpression" || calledNamespace(node, syntax) === undefined) return false;
  let parent = syntax.tree.parentOf(node);
  while (parent?.type === "ChainExpression" || parent?.type === "ParenthesizedExpression")
    parent = syntax.tree.parentOf(parent);
  return parent?.type === "AwaitExpression";
}

function goesThroughList(loop: AnyNode): boolean {
  if (loop.type === "ForOfStatement") return !loop.await;
  if (loop.type === "ForInStatement") return true;
  return (
    loop.type === "ForStatement" &&
    loop.init?.type === "VariableDeclaration" &&
    loop.update?.type === "UpdateExpression"
  );
}

const LEAVING: ReadonlySet<string> = new Set([
  "BreakStatement",
  "ReturnStatement",
  "ThrowStatement",
  "YieldExpression",
]);

/** Loops that may exit early, yield, wait on purpose, or make a call that may change something: their order matters. */
function findOrderedLoops(syntax: ProgramSyntax): ReadonlySet<AnyNode> {
  const { tree, around } = syntax;
  const ordered = new Set<AnyNode>();
  for (const node of tree.nodes) {
    if (!LEAVING.has(node.type) && !waits(node) && !mayChange(node, syntax)) continue;
    for (const { kind, node: loop } of withinFunction(around(node))) if (kind === "loop") ordered.add(loop);
  }
  return ordered;
}

function mayChange(node: AnyNode, syntax: ProgramSyntax): boolean {
  const called = node.type === "CallExpression" ? calledTool(node, syntax) : undefined;
  return called !== undefined && syntax.isRead(called.namespace, called.tool) === false;
}

/** `await new Promise(…)` and `await sleep(100)` pace the loop. */
function waits(node: AnyNode): boolean {
  if (node.type !== "AwaitExpression") return false;
  const awaited = withoutParens(node.argument);
  if (awaited.type === "NewExpression") return true;
  return (
    awaited.type === "CallExpression" &&
    awaited.callee.type === "Identifier" &&
    /sleep|delay|wait|pause/iu.test(awaited.callee.name)
  );
}

/** Whether an argument mentions an outer name that the loop writes. */
function needsEarlierRound(call: CallExpression, loop: AnyNode, { tree, globals }: ProgramSyntax): boolean {
  const isInLoop = ({ start, end }: AnyNode): boolean => start >= loop.start && end <= loop.end;
  const inside = call.arguments.flatMap((argument) => tree.within(argument));
  return inside.some((node) => {
    const binding = node.type === "Identifier" ? globals.bindingOf(node) : undefined;
    if (!binding || binding.declarers.every((declarer) => isInLoop(declarer) && !isFunction(declarer))) return false;
    return binding.mentions.some((mention) => isInLoop(mention) && isWritten(mention, tree));
  });
}
