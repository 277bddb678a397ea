/** How the writes of a loop move a counter: `i++`, `i -= 2`, `i = i + 1`. */

import type { AnyNode } from "acorn";
import { withoutParens } from "../read-tree.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

export interface CounterStep {
  readonly by: number;
  /** Whether every round makes it. */
  readonly isSure: boolean;
}

/** Returns `undefined` if a write is anything but a fixed step. */
export function readSteps(
  writes: readonly AnyNode[],
  syntax: ProgramSyntax & { readonly loop: AnyNode },
): readonly CounterStep[] | undefined {
  const steps: CounterStep[] = [];
  for (const write of writes) {
    const statement = syntax.tree.parentOf(write);
    const by = statement && stepOf(statement, write, syntax);
    if (!statement || by === undefined || !Number.isFinite(by)) return undefined;
    steps.push({ by, isSure: isSure(statement, syntax) });
  }
  return steps;
}

function stepOf(node: AnyNode, write: AnyNode, { folder }: ProgramSyntax): number | undefined {
  const numberOf = (part: AnyNode): number | undefined => {
    const [value, ...others] = folder.valuesOf(part) ?? [];
    return others.length === 0 && typeof value === "number" ? value : undefined;
  };
  const signed = (part: AnyNode, sign: number): number | undefined => {
    const value = numberOf(part);
    return value === undefined ? undefined : sign * value;
  };
  if (node.type === "UpdateExpression") return node.operator === "++" ? 1 : -1;
  if (node.type !== "AssignmentExpression" || node.left !== write || write.type !== "Identifier") return undefined;
  if (node.operator === "+=") return signed(node.right, 1);
  if (node.operator === "-=") return signed(node.right, -1);
  const right = withoutParens(node.right);
  if (node.operator !== "=" || right.type !== "BinaryExpression") return undefined;
  const isSelf = (part: AnyNode): boolean => {
    const inner = withoutParens(part);
    return inner.type === "Identifier" && inner.name === write.name;
  };
  if (right.operator === "+" && isSelf(right.left)) return signed(right.right, 1);
  if (right.operator === "+" && isSelf(right.right)) return signed(right.left, 1);
  return right.operator === "-" && isSelf(right.left) ? signed(right.right, -1) : undefined;
}

/** Whether the write is the update of the loop, or a statement of its body itself. */
function isSure(node: AnyNode, { tree, loop }: ProgramSyntax & { readonly loop: AnyNode }): boolean {
  if (loop.type === "ForStatement" && loop.update === node) return true;
  const statement = tree.parentOf(node);
  if (statement?.type !== "ExpressionStatement") return false;
  const block = tree.parentOf(statement);
  return block === loop || (block?.type === "BlockStatement" && tree.parentOf(block) === loop);
}
