/** Finds the function that an expression denotes, and the calls of a function, if the source leaves no doubt. */

import type { AnyNode, CallExpression } from "acorn";
import { withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import type { FunctionNode } from "../resolve-scopes.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** Climbs out of parentheses and optional chains. */
export function climb(
  node: AnyNode,
  { tree }: ProgramSyntax,
): { readonly outermost: AnyNode; readonly parent: AnyNode | undefined } {
  let outermost = node;
  let parent = tree.parentOf(node);
  while (parent?.type === "ParenthesizedExpression" || parent?.type === "ChainExpression") {
    outermost = parent;
    parent = tree.parentOf(parent);
  }
  return { outermost, parent };
}

/** The call of an expression, if it is a callee. */
export function callOf(node: AnyNode, syntax: ProgramSyntax): CallExpression | undefined {
  const { outermost, parent } = climb(node, syntax);
  return parent?.type === "CallExpression" && parent.callee === outermost ? parent : undefined;
}

/** The function that an expression denotes, if it can be only one. */
export function findFunction(node: AnyNode, { globals, folder }: ProgramSyntax): FunctionNode | undefined {
  const inner = withoutParens(node);
  if (isFunction(inner)) return inner;
  const binding = globals.bindingOf(inner);
  const value = globals.valueOf(inner);
  return binding && value && isFunction(value) && folder.isSteady(binding) ? value : undefined;
}

/** Returns every call of a function, or `undefined` if other code may call it. */
export type FindCallers = (callee: FunctionNode) => readonly CallExpression[] | undefined;

export function createCallerFinder(syntax: ProgramSyntax): FindCallers {
  const calls = new Map<FunctionNode, readonly CallExpression[] | undefined>();
  return (callee) => {
    if (!calls.has(callee)) calls.set(callee, findCallers(callee, syntax));
    return calls.get(callee);
  };
}

function findCallers(callee: FunctionNode, syntax: ProgramSyntax): readonly CallExpression[] | undefined {
  const direct = callOf(callee, syntax);
  const { parent } = climb(callee, syntax);
  const name =
    callee.type === "FunctionDeclaration" ? callee.id : parent?.type === "VariableDeclarator" ? parent.id : undefined;
  const binding = name?.type === "Identifier" ? syntax.globals.bindingOf(name) : undefined;
  // A function expression may call itself by its own name.
  const own = callee.type === "FunctionExpression" && callee.id ? syntax.globals.bindingOf(callee.id) : undefined;
  if (!direct && binding?.declarers.length !== 1) return undefined;
  const mentions = [...(direct ? [] : (binding?.mentions ?? [])), ...(own?.mentions ?? [])];
  const calls = [direct, ...mentions.map((mention) => callOf(mention, syntax) ?? "unknown")];
  return calls.includes("unknown") ? undefined : calls.filter((call) => call !== undefined && call !== "unknown");
}
