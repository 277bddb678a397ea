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
  if (object.type !== "Identifier") return undefined;
  const declarer = declarerOf(object, names);
  if (declarer === "none") return names.namespaces.has(object.name) ? object.name : undefined;
  if (declarer?.type !== "VariableDeclarator" || declarer.id.type !== "Identifier" || !declarer.init) return undefined;
  const value = withoutChain(declarer.init);
  const isGlobal = value.type === "Identifier" && declarerOf(value, names) === "none";
  return isGlobal && names.namespaces.has(value.name) ? value.name : undefined;
}

/** `echo` after `const { echo } = tools` or `const echo = tools.echo`. */
function namespaceOfTool(callee: Identifier, names: NamespaceNames): string | undefined {
  const declarer = declarerOf(callee, names);
  if (declarer === "none" || declarer?.type !== "VariableDeclarator" || !declarer.init) return undefined;
  const value = withoutChain(declarer.init);
  if (declarer.id.type === "Identifier") {
    return value.type === "MemberExpression" ? namespaceAt(value.object, names) : undefined;
  }
  if (declarer.id.type !== "ObjectPattern") return undefined;
  const isDirect = declarer.id.properties.some(
    (part) => part.type === "Property" && part.value.type === "Identifier" && part.value.name === callee.name,
  );
  return isDirect ? namespaceAt(value, names) : undefined;
}

/** Returns "none" for a global and `undefined` if the name is declared more than once. */
function declarerOf(name: Identifier, { globals }: NamespaceNames): AnyNode | "none" | undefined {
  const binding = globals.bindingOf(name);
  if (!binding) return "none";
  return binding.declarers.length === 1 ? binding.declarers[0] : undefined;
}

/** Removes parentheses and an optional chain. */
export function withoutChain(node: AnyNode): AnyNode {
  const inner = withoutParens(node);
  return inner.type === "ChainExpression" ? inner.expression : inner;
}
