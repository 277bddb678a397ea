/** Recognizes tool calls by their form: a method of a global namespace, or an alias of either. */

import type { AnyNode, Identifier } from "acorn";
import { withoutParens } from "./read-tree.ts";
import type { ProgramSyntax } from "./program-syntax.ts";

type NamespaceNames = Pick<ProgramSyntax, "globals" | "namespaces">;

/** Returns the namespace whose method is called, or `undefined` if this is not a tool call. */
export function calledNamespace(expression: AnyNode, names: NamespaceNames): string | undefined {
  const call = withoutChain(expression);
  const callee = call.type === "CallExpression" ? withoutChain(call.callee) : undefined;
  if (callee?.type === "Identifier") return namespaceOfTool(callee, names);
  return callee?.type === "MemberExpression" ? namespaceAt(callee.object, names) : undefined;
}

/** `tools`, or `api` after `const api = tools`. */
export function namespaceAt(node: AnyNode, names: NamespaceNames): string | undefined {
  const object = withoutChain(node);
  const alias = names.globals.valueOf(object);
  const name = alias ? withoutChain(alias) : object;
  const isGlobal = name.type === "Identifier" && !names.globals.bindingOf(name);
  return isGlobal && names.namespaces.has(name.name) ? name.name : undefined;
}

/** `echo` after `const { echo } = tools` or `const echo = tools.echo`. */
function namespaceOfTool(callee: Identifier, names: NamespaceNames): string | undefined {
  const value = names.globals.valueOf(callee);
  const member = value && withoutChain(value);
  if (member) return member.type === "MemberExpression" ? namespaceAt(member.object, names) : undefined;
  const [declarer, ...others] = names.globals.bindingOf(callee)?.declarers ?? [];
  if (others.length > 0 || declarer?.type !== "VariableDeclarator" || !declarer.init) return undefined;
  const isDirect =
    declarer.id.type === "ObjectPattern" &&
    declarer.id.properties.some(
      (part) => part.type === "Property" && part.value.type === "Identifier" && part.value.name === callee.name,
    );
  return isDirect ? namespaceAt(declarer.init, names) : undefined;
}

export function withoutChain(node: AnyNode): AnyNode {
  const inner = withoutParens(node);
  return inner.type === "ChainExpression" ? inner.expression : inner;
}
