/** Uses of a promise that need no `await`, and those that take it for its result. */

import type { AnyNode, CallExpression } from "acorn";
import { staticName, withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

const TO_TEXT: ReadonlySet<string> = new Set(["String", "Number"]);
const MAX_DEPTH = 20;

/**
 * Whether a promise is used as its result without a type error: a string gets `[object Promise]`, JSON gets `{}`, a
 * spread gets nothing. The checker finds the type errors (a member, a comparison, a product).
 */
export function isMisread(node: AnyNode, syntax: ProgramSyntax): boolean {
  const parent = syntax.tree.parentOf(node);
  if (parent?.type === "BinaryExpression") return parent.operator === "+";
  if (parent?.type === "TemplateLiteral") {
    return syntax.tree.parentOf(parent)?.type !== "TaggedTemplateExpression";
  }
  if (parent?.type === "SpreadElement") return isSpread(node, parent, syntax);
  return isStringified(node, syntax);
}

/** An array of promises can be spread; a promise has no properties. */
function isSpread(node: AnyNode, spread: AnyNode, { tree }: ProgramSyntax): boolean {
  const value = withoutChain(node);
  return value.type !== "ArrayExpression" && tree.parentOf(spread)?.type === "ObjectExpression";
}

/** The first argument of `JSON.stringify` at any depth, or of `String` itself. */
function isStringified(node: AnyNode, syntax: ProgramSyntax): boolean {
  let inner = node;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const parent = syntax.tree.parentOf(inner);
    if (parent?.type === "CallExpression") return parent.arguments[0] === inner && takesResult(parent, syntax, depth);
    const isPart = parent?.type === "Property" && parent.value === inner;
    const isInside = parent?.type === "ObjectExpression" || parent?.type === "ArrayExpression";
    if (!parent || !(isPart || isInside || parent.type === "ParenthesizedExpression")) return false;
    inner = parent;
  }
  return false;
}

function takesResult({ callee }: CallExpression, { globals }: ProgramSyntax, depth: number): boolean {
  const called = withoutChain(callee);
  if (called.type === "Identifier") return depth === 0 && TO_TEXT.has(called.name) && !globals.bindingOf(called);
  if (called.type !== "MemberExpression" || called.object.type !== "Identifier") return false;
  const isJson = called.object.name === "JSON" && !globals.bindingOf(called.object);
  return isJson && staticName(called.property, called.computed) === "stringify";
}

/** `resolve` in `new Promise((resolve, reject) => …)`: the caller of the function waits for it. */
export function isHandedIn(node: AnyNode, { globals }: ProgramSyntax): boolean {
  const inner = withoutParens(node);
  const [declarer] = globals.bindingOf(inner)?.declarers ?? [];
  if (inner.type !== "Identifier" || !declarer || !isFunction(declarer)) return false;
  return declarer.params.some((param) => param.type === "Identifier" && param.name === inner.name);
}
