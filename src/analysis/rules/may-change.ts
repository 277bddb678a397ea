/** Which tool calls may change something, directly or in a function of the program. */

import type { AnyNode } from "acorn";
import { calledTool, withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax, ToolReference } from "../program-syntax.ts";
import { isFunction } from "../resolve-scopes.ts";

/**
 * A tool that is not known to only read, or a computed name if the server has such a tool. False as long as the server's
 * tools are unknown, and for a tool that it does not have.
 */
export function mayChange({ namespace, tool }: ToolReference, { isRead, toolsOf }: ProgramSyntax): boolean {
  const tools = toolsOf(namespace).filter((name) => tool === undefined || name === tool);
  return tools.some((name) => isRead(namespace, name) === false);
}

export function nameTool({ namespace, tool }: ToolReference): string {
  return `${namespace}.${tool ?? "*"}`;
}

export interface ChangeFinder {
  /**
   * Returns the first tool that a function calls and that may change something, also through functions that it calls. A
   * call whose promise the function stores elsewhere (`jobs.push(…)`, `job = …`) does not count: its promise is not the
   * function's.
   */
  readonly findChange: (callee: AnyNode) => string | undefined;
  /** Whether a function settles the promise of `new Promise((resolve) => …)` around it: something waits for that one. */
  readonly callsResolver: (callee: AnyNode) => boolean;
}

/** Functions that call functions; deeper ones are not read. */
const MAX_DEPTH = 20;

/** Reads every function once, however often it is called. */
export function createChangeFinder(syntax: ProgramSyntax): ChangeFinder {
  const changes = new Map<AnyNode, string | undefined>();
  const resolvers = new Map<AnyNode, boolean>();
  let depth = 0;
  const findChange = (callee: AnyNode): string | undefined => {
    if (changes.has(callee)) return changes.get(callee);
    if (depth >= MAX_DEPTH) return undefined;
    changes.set(callee, undefined); // a function that calls itself
    depth += 1;
    const found = firstChange(callee, syntax, findChange);
    depth -= 1;
    changes.set(callee, found);
    return found;
  };
  return {
    findChange,
    callsResolver: (callee) => {
      const known = resolvers.get(callee) ?? callsResolver(callee, syntax);
      resolvers.set(callee, known);
      return known;
    },
  };
}

function firstChange(
  callee: AnyNode,
  syntax: ProgramSyntax,
  findChange: ChangeFinder["findChange"],
): string | undefined {
  for (const node of syntax.tree.within(callee)) {
    if (node.type !== "CallExpression") continue;
    const called = calledTool(node, syntax);
    if (called && mayChange(called, syntax) && !isStored(node, syntax)) return nameTool(called);
    const own = called ? undefined : syntax.globals.valueOf(withoutChain(node.callee));
    const found = own && own !== callee && isFunction(own) ? findChange(own) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isStored(call: AnyNode, { tree }: ProgramSyntax): boolean {
  let parent = tree.parentOf(call);
  while (parent?.type === "ParenthesizedExpression" || parent?.type === "ChainExpression")
    parent = tree.parentOf(parent);
  return parent?.type === "CallExpression" || parent?.type === "AssignmentExpression";
}

function callsResolver(callee: AnyNode, { tree, globals }: ProgramSyntax): boolean {
  return tree.within(callee).some((node) => {
    const [declarer] = node.type === "Identifier" ? (globals.bindingOf(node)?.declarers ?? []) : [];
    return declarer !== undefined && declarer !== callee && tree.parentOf(declarer)?.type === "NewExpression";
  });
}
