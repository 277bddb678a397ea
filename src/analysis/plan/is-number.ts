/**
 * Whether an expression computes a number, or text from one, and so is never `null` itself: `null` in its place in a
 * result was `NaN` or infinite.
 */

import type { AnyNode } from "acorn";
import { withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { staticName } from "../read-tree.ts";

const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%", "**"]);
const SIGNS: ReadonlySet<string> = new Set(["+", "-"]);
const FUNCTIONS: ReadonlySet<string> = new Set(["Number", "parseInt", "parseFloat"]);
const MAX_STEPS = 6;

type Names = Pick<ProgramSyntax, "globals" | "tree">;

export function isNumber(node: AnyNode, names: Names, steps = MAX_STEPS): boolean {
  const inner = withoutChain(node);
  if (steps <= 0) return false;
  switch (inner.type) {
    case "BinaryExpression":
      return ARITHMETIC.has(inner.operator);
    case "UnaryExpression":
      return SIGNS.has(inner.operator);
    case "Literal":
      return typeof inner.value === "number";
    case "CallExpression":
      return isNumberCall(inner, names, steps);
    case "Identifier":
      return isNumberName(inner, names, steps);
    default:
      return false;
  }
}

function isNumberCall(
  { callee, arguments: given }: Extract<AnyNode, { type: "CallExpression" }>,
  names: Names,
  steps: number,
): boolean {
  const called = withoutChain(callee);
  if (called.type === "Identifier") return FUNCTIONS.has(called.name) && !names.globals.bindingOf(called);
  if (called.type !== "MemberExpression") return false;
  const { object } = called;
  const method = staticName(called.property, called.computed) ?? "";
  const isGlobal = object.type === "Identifier" && !names.globals.bindingOf(object);
  if (isGlobal && (object.name === "Math" || object.name === "Number")) return method !== "isNaN";
  const [step, start] = given;
  const body = step?.type === "ArrowFunctionExpression" ? step.body : undefined;
  if (method !== "reduce" || !start || !body || body.type === "BlockStatement") return false;
  return isNumber(start, names, steps - 1) && isNumber(body, names, steps - 1);
}

/** Each value that a variable gets is a number. */
function isNumberName(name: Extract<AnyNode, { type: "Identifier" }>, names: Names, steps: number): boolean {
  const value = names.globals.valueOf(name);
  if (!value || !isNumber(value, names, steps - 1)) return false;
  return (names.globals.bindingOf(name)?.mentions ?? []).every((mention) => {
    const parent = names.tree.parentOf(mention);
    if (parent?.type !== "AssignmentExpression" || parent.left !== mention) return true;
    const isSum = ARITHMETIC.has(parent.operator.slice(0, -1));
    return isSum || (parent.operator === "=" && isNumber(parent.right, names, steps - 1));
  });
}
