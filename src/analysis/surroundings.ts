/**
 * What encloses a node, as far as it decides how often the node runs: functions, loops, branches and guarded blocks.
 * Built in one pass; a lookup then climbs over these few instead of over every enclosing expression.
 */

import type { AnyNode } from "acorn";
import { isFunction } from "./resolve-scopes.ts";
import type { FunctionNode } from "./resolve-scopes.ts";
import type { Tree } from "./read-tree.ts";

/** `node` is the function, loop or branch; `outer` is the enclosure around it. */
export interface Enclosure {
  /** `guard` is a `try` block with a `catch`; `catch` is its handler. */
  readonly kind: "function" | "loop" | "branch" | "guard" | "catch";
  readonly node: AnyNode;
  readonly outer: Enclosure | undefined;
}

const LOOPS: ReadonlySet<string> = new Set([
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
]);

export function isLoop(node: AnyNode): boolean {
  return LOOPS.has(node.type);
}

/** The enclosures up to the enclosing function, from the inside out. */
export function* withinFunction(from: Enclosure | undefined): Generator<Enclosure, undefined> {
  for (let gate = from; gate && gate.kind !== "function"; gate = gate.outer) yield gate;
}

/** The innermost enclosing function; `undefined` at the top of the program. */
export function functionAround(from: Enclosure | undefined): FunctionNode | undefined {
  let gate = from;
  while (gate && gate.kind !== "function") gate = gate.outer;
  return gate && isFunction(gate.node) ? gate.node : undefined;
}

/** Returns the innermost enclosure of a node. */
export function readSurroundings(tree: Tree): (node: AnyNode) => Enclosure | undefined {
  const optional = findOptional(tree);
  const gates: (Enclosure | undefined)[] = [];
  const byNode = new Map<AnyNode, Enclosure>();
  for (const [index, node] of tree.nodes.entries()) {
    const parentIndex = tree.parents[index] ?? -1;
    const parent = tree.nodes[parentIndex];
    const outer = parentIndex < 0 ? undefined : gates[parentIndex];
    const kind = parent && kindOf(node, parent, optional);
    const gate: Enclosure | undefined = kind && parent ? { kind, node: parent, outer } : outer;
    gates.push(gate);
    if (gate) byNode.set(node, gate);
  }
  return (node) => byNode.get(node);
}

/** Links of a chain after a `?.`: they and their arguments are evaluated only if the value before it exists. */
function findOptional({ nodes }: Pick<Tree, "nodes">): ReadonlySet<AnyNode> {
  const optional = new Set<AnyNode>();
  for (const node of nodes.toReversed()) {
    if (node.type !== "MemberExpression" && node.type !== "CallExpression") continue;
    const before = node.type === "MemberExpression" ? node.object : node.callee;
    if (node.optional || optional.has(before)) optional.add(node);
  }
  return optional;
}

const ASSIGNS_MAYBE: ReadonlySet<string> = new Set(["??=", "||=", "&&="]);

function kindOf(node: AnyNode, parent: AnyNode, optional: ReadonlySet<AnyNode>): Enclosure["kind"] | undefined {
  if (isFunction(parent)) return "function";
  switch (parent.type) {
    case "ForStatement":
      return parent.init === node ? undefined : "loop";
    case "ForInStatement":
    case "ForOfStatement":
      return parent.right === node ? undefined : "loop";
    case "WhileStatement":
    case "DoWhileStatement":
      return "loop";
    case "IfStatement":
    case "ConditionalExpression":
      return parent.test === node ? undefined : "branch";
    case "AssignmentExpression":
      return parent.right === node && ASSIGNS_MAYBE.has(parent.operator) ? "branch" : undefined;
    case "CallExpression":
      return parent.callee !== node && optional.has(parent) ? "branch" : undefined;
    case "MemberExpression":
      return parent.object !== node && optional.has(parent) ? "branch" : undefined;
    case "LogicalExpression":
      return parent.right === node ? "branch" : undefined;
    case "SwitchCase":
    case "PropertyDefinition":
    case "AssignmentPattern":
      return "branch";
    case "TryStatement":
      return parent.block === node && parent.handler ? "guard" : undefined;
    case "CatchClause":
      return "catch";
    default:
      return undefined;
  }
}
