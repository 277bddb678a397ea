/** Finds the function that an expression denotes, and the calls of a function, if the source leaves no doubt. */

import type { AnyNode, CallExpression } from "acorn";
import { withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import type { FunctionNode } from "../resolve-scopes.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** Finds functions of one program, with a memo. */
export interface FunctionFinder {
  find(node: AnyNode): FunctionNode | undefined;
  /** Returns every call of a function, or `undefined` if other code may call it. */
  callsOf(callee: FunctionNode): readonly CallExpression[] | undefined;
  /** `arguments` exposes values without a parameter. */
  usesArguments(callee: FunctionNode): boolean;
}

export function createFunctionFinder(syntax: ProgramSyntax): FunctionFinder {
  const calls = new Map<FunctionNode, readonly CallExpression[] | undefined>();
  let users: ReadonlySet<AnyNode> | undefined;
  return {
    find: (node) => findFunction(node, syntax),
    callsOf(callee) {
      if (!calls.has(callee)) calls.set(callee, findCallsOf(callee, syntax));
      return calls.get(callee);
    },
    usesArguments: (callee) => (users ??= findArgumentUsers(syntax)).has(callee),
  };
}

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

/** The function that an expression denotes, if it can be only one. */
function findFunction(node: AnyNode, { globals, folder }: ProgramSyntax): FunctionNode | undefined {
  const inner = withoutParens(node);
  if (isFunction(inner)) return inner;
  const binding = globals.bindingOf(inner);
  const value = globals.valueOf(inner);
  return binding && value && isFunction(value) && folder.isSteady(binding) ? value : undefined;
}

function findArgumentUsers({ globals, around }: ProgramSyntax): ReadonlySet<AnyNode> {
  const users = new Set<AnyNode>();
  for (const mention of globals.mentions.get("arguments") ?? []) {
    for (let gate = around(mention); gate; gate = gate.outer) if (gate.kind === "function") users.add(gate.node);
  }
  return users;
}

/** Returns every call of a function, or `undefined` if other code may call it. */
function findCallsOf(callee: FunctionNode, syntax: ProgramSyntax): readonly CallExpression[] | undefined {
  const { outermost, parent } = climb(callee, syntax);
  const isCalled = parent?.type === "CallExpression" && parent.callee === outermost;
  const name =
    callee.type === "FunctionDeclaration" ? callee.id : parent?.type === "VariableDeclarator" ? parent.id : undefined;
  const binding = name?.type === "Identifier" ? syntax.globals.bindingOf(name) : undefined;
  // A function expression may call itself by its own name.
  const own = callee.type === "FunctionExpression" && callee.id ? syntax.globals.bindingOf(callee.id) : undefined;
  if (!isCalled && (!binding || binding.declarers.length !== 1)) return undefined;
  const calls: CallExpression[] = isCalled ? [parent] : [];
  for (const mention of [...(isCalled ? [] : (binding?.mentions ?? [])), ...(own?.mentions ?? [])]) {
    const use = climb(mention, syntax);
    if (use.parent?.type !== "CallExpression" || use.parent.callee !== use.outermost) return undefined;
    calls.push(use.parent);
  }
  return calls;
}
