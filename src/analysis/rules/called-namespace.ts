/** Recognizes the call of a tool by its form: a method of a global namespace. */

import type { AnyNode } from "acorn";
import { withoutParens } from "../read-tree.ts";
import type { Subject } from "./rule.ts";

/** The namespace whose method is called here, or `undefined` when this is no such call. */
export function calledNamespace(
  expression: AnyNode,
  { globals, namespaces }: Pick<Subject, "globals" | "namespaces">,
): string | undefined {
  const call = withoutChain(expression);
  const callee = call.type === "CallExpression" ? withoutChain(call.callee) : undefined;
  const object = callee?.type === "MemberExpression" ? withoutChain(callee.object) : undefined;
  if (object?.type !== "Identifier" || !namespaces.has(object.name)) return undefined;
  return globals.bindingOf(object) ? undefined : object.name;
}

/** What stands inside parentheses and an optional chain. */
export function withoutChain(node: AnyNode): AnyNode {
  const inner = withoutParens(node);
  return inner.type === "ChainExpression" ? inner.expression : inner;
}
