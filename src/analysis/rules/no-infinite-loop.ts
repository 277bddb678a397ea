/** A loop that nothing in the program can end runs until a limit stops the execution, and its work is lost. */

import type { AnyNode } from "acorn";
import { withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { isLoop } from "../surroundings.ts";
import type { Gate } from "../surroundings.ts";
import type { Objection, Rule, Subject } from "./rule.ts";

/** Looks at loops whose condition always holds, in any spelling, and at what could lead out of them. */
export const noInfiniteLoop: Rule = {
  name: "no-infinite-loop",
  severity: "error",
  check: (subject) => {
    const endless = subject.tree.nodes.filter((node) => isLoop(node) && holdsForever(node, subject));
    if (endless.length === 0) return [];
    const left = findLeftLoops(subject);
    return endless
      .filter((loop) => !left.has(loop))
      .map(({ start: offset }): Objection => {
        const message =
          "this loop has no way out: its condition always holds, and nothing in it breaks, returns or fails";
        return { offset, message, fix: "add a condition that becomes false, or a `break`" };
      });
  },
};

function holdsForever(loop: AnyNode, { folder }: Subject): boolean {
  if (loop.type === "ForStatement") return !loop.test || folder.truthOf(loop.test) === true;
  if (loop.type !== "WhileStatement" && loop.type !== "DoWhileStatement") return false;
  return folder.truthOf(loop.test) === true;
}

/** The loops that something inside may leave. */
function findLeftLoops(subject: Subject): ReadonlySet<AnyNode> {
  const left = new Set<AnyNode>();
  for (const node of subject.tree.nodes) {
    if (node.type === "BreakStatement" || node.type === "ContinueStatement") leaveByJump(node, subject, left);
    else if (node.type === "ReturnStatement" || node.type === "YieldExpression")
      leaveAll(subject.around(node), left, true);
    else if (node.type === "ThrowStatement" || mayFail(node, subject)) leaveAll(subject.around(node), left, false);
  }
  return left;
}

/** Outwards to the function's edge; a failure gets no further than the `try` that catches it. */
function leaveAll(from: Gate | undefined, left: Set<AnyNode>, isReturn: boolean): void {
  for (let gate = from; gate && gate.kind !== "function"; gate = gate.outer) {
    if (gate.kind === "guard" && !isReturn) return;
    if (gate.kind === "loop") left.add(gate.node);
  }
}

function leaveByJump(node: AnyNode, { tree, around }: Subject, left: Set<AnyNode>): void {
  if (node.type !== "BreakStatement" && node.type !== "ContinueStatement") return;
  const label = node.label?.name;
  if (label === undefined && node.type === "ContinueStatement") return;
  if (label === undefined && breaksSwitch(node, around(node))) return;
  for (let gate = around(node); gate && gate.kind !== "function"; gate = gate.outer) {
    if (gate.kind !== "loop") continue;
    const parent = tree.parentOf(gate.node);
    const isTarget = parent?.type === "LabeledStatement" && parent.label.name === label;
    if (!isTarget || node.type === "BreakStatement") left.add(gate.node);
    if (label === undefined || isTarget) return;
  }
}

/** A bare `break` ends the innermost loop or `switch`, whichever is nearer. */
function breaksSwitch(node: AnyNode, from: Gate | undefined): boolean {
  for (let gate = from; gate && gate.kind !== "function"; gate = gate.outer) {
    if (gate.kind === "loop") return false;
    if (gate.node.type === "SwitchCase" && gate.node !== node) return true;
  }
  return false;
}

/**
 * Whether what is awaited or called here may fail and so end a loop: a tool, something that was handed in, or a function
 * of the program that throws or awaits such. Built-in functions and timers do not count.
 */
function mayFail(node: AnyNode, subject: Subject): boolean {
  if (node.type !== "CallExpression") return false;
  const awaited = subject.tree.parentOf(node)?.type === "AwaitExpression";
  const root = rootOf(node.callee);
  if (root.type !== "Identifier") return false;
  const binding = subject.globals.bindingOf(root);
  // However it is awaited, and even if it is not: a failed tool call that nobody catches ends the program.
  if (!binding) return subject.namespaces.has(root.name);
  const [declarer] = binding.declarers;
  const body = declarer?.type === "VariableDeclarator" ? declarer.init : declarer;
  if (binding.declarers.length !== 1 || !body || !isFunction(body) || !isNamedBy(body, root.name, declarer))
    return awaited;
  return subject.throwing.has(body);
}

/** A parameter is declared by its function too, but is not that function. */
function isNamedBy(body: AnyNode, name: string, declarer: AnyNode | undefined): boolean {
  if (declarer?.type === "VariableDeclarator") return declarer.id.type === "Identifier";
  return isFunction(body) && "id" in body && body.id?.name === name;
}

function rootOf(callee: AnyNode): AnyNode {
  let node = withoutParens(callee);
  for (;;) {
    if (node.type === "MemberExpression") node = withoutParens(node.object);
    else if (node.type === "ChainExpression") node = withoutParens(node.expression);
    else return node;
  }
}
