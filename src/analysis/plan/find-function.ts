/** Which function an expression stands for, and who calls a function: as far as the text leaves no doubt. */

import type { AnyNode, CallExpression } from "acorn";
import type { FunctionNode } from "../resolve-scopes.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** Answers about the functions of one program; each is found once. */
export interface FunctionFinder {
  find(node: AnyNode): FunctionNode | undefined;
  /** Every call of a function, or `undefined` when it may be called from elsewhere. */
  callsOf(callee: FunctionNode): readonly CallExpression[] | undefined;
  /** `arguments` sees what no parameter names. */
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

/** Out of parentheses and optional chains, which change nothing about what is reached. */
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

/** The function that an expression names or writes down, if it can be no other. */
function findFunction(node: AnyNode, { globals, folder }: ProgramSyntax): FunctionNode | undefined {
  let inner = node;
  while (inner.type === "ParenthesizedExpression") inner = inner.expression;
  if (inner.type === "FunctionExpression" || inner.type === "ArrowFunctionExpression") return inner;
  const binding = globals.bindingOf(inner);
  const [declarer] = binding?.declarers ?? [];
  if (inner.type !== "Identifier" || binding?.declarers.length !== 1 || !folder.isSteady(binding)) return undefined;
  if (declarer?.type === "FunctionDeclaration") return declarer.id?.name === inner.name ? declarer : undefined;
  const value =
    declarer?.type === "VariableDeclarator" && declarer.id.type === "Identifier" ? declarer.init : undefined;
  return value?.type === "FunctionExpression" || value?.type === "ArrowFunctionExpression" ? value : undefined;
}

function findArgumentUsers({ globals, around }: ProgramSyntax): ReadonlySet<AnyNode> {
  const users = new Set<AnyNode>();
  for (const mention of globals.mentions.get("arguments") ?? []) {
    for (let gate = around(mention); gate; gate = gate.outer) if (gate.kind === "function") users.add(gate.node);
  }
  return users;
}

/** Every call of a function, or `undefined` when it may be called from elsewhere. */
function findCallsOf(callee: FunctionNode, syntax: ProgramSyntax): readonly CallExpression[] | undefined {
  const { outermost, parent } = climb(callee, syntax);
  const isCalled = parent?.type === "CallExpression" && parent.callee === outermost;
  const name =
    callee.type === "FunctionDeclaration" ? callee.id : parent?.type === "VariableDeclarator" ? parent.id : undefined;
  const binding = name?.type === "Identifier" ? syntax.globals.bindingOf(name) : undefined;
  // A function expression may call itself by a name that only it knows.
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
