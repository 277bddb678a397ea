/** Places that take a promise for its result and say nothing: text gets `[object Promise]`, JSON gets `{}`, a spread gets nothing. */

import type { AnyNode, CallExpression } from "acorn";
import { staticName } from "../read-tree.ts";
import { withoutChain } from "./called-namespace.ts";
import type { Subject } from "./rule.ts";

const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%", "**", "<", ">", "<=", ">="]);
const TO_TEXT: ReadonlySet<string> = new Set(["String", "Number"]);
const MAX_DEPTH = 20;

/** Whether what stands around a value needs it to have arrived. */
export function isMisread(node: AnyNode, subject: Subject): boolean {
  const parent = subject.tree.parentOf(node);
  if (parent?.type === "BinaryExpression") return ARITHMETIC.has(parent.operator);
  if (parent?.type === "TemplateLiteral") {
    return subject.tree.parentOf(parent)?.type !== "TaggedTemplateExpression";
  }
  if (parent?.type === "SpreadElement") return isSpread(node, parent, subject);
  return isStringified(node, subject);
}

/** A list of promises can be spread; a promise has nothing of its own. */
function isSpread(node: AnyNode, spread: AnyNode, { tree }: Subject): boolean {
  const value = withoutChain(node);
  return value.type !== "ArrayExpression" && tree.parentOf(spread)?.type === "ObjectExpression";
}

/** The first argument of `JSON.stringify` at any depth, or of `String` itself. */
function isStringified(node: AnyNode, subject: Subject): boolean {
  let inner = node;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const parent = subject.tree.parentOf(inner);
    if (parent?.type === "CallExpression") return parent.arguments[0] === inner && takesResult(parent, subject, depth);
    const isPart = parent?.type === "Property" && parent.value === inner;
    const isInside = parent?.type === "ObjectExpression" || parent?.type === "ArrayExpression";
    if (!parent || !(isPart || isInside || parent.type === "ParenthesizedExpression")) return false;
    inner = parent;
  }
  return false;
}

function takesResult({ callee }: CallExpression, { globals }: Subject, depth: number): boolean {
  const called = withoutChain(callee);
  if (called.type === "Identifier") return depth === 0 && TO_TEXT.has(called.name) && !globals.bindingOf(called);
  if (called.type !== "MemberExpression" || called.object.type !== "Identifier") return false;
  const isJson = called.object.name === "JSON" && !globals.bindingOf(called.object);
  return isJson && staticName(called.property, called.computed) === "stringify";
}
