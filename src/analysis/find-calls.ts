/**
 * Which tools a program can reach, as far as its text tells. For people and plans; the host decides at the call.
 * In doubt the answer is "dynamic". Not seen are names computed to reach a constructor (`f["con" + "structor"]`).
 */

import { parseToolAddress } from "../domain/index.ts";
import type { CallSite, Namespace } from "../domain/index.ts";
import type { AnyNode, Identifier, ObjectPattern } from "acorn";
import type { Position } from "./locate.ts";
import { staticName } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";
import type { Globals } from "./resolve-scopes.ts";

interface Site {
  readonly address: CallSite["address"];
  readonly offset: number;
}

/** Globals that lead to every other global. */
const GATEWAYS = ["globalThis", "eval", "Function"] as const;

/** Sorted by position. `locate` turns offsets into the author's lines and columns. */
export function findCalls(
  tree: Tree,
  globals: Globals,
  context: { readonly namespaces: readonly Namespace[]; readonly locate: (offset: number) => Position },
): readonly CallSite[] {
  const sites: Site[] = [...gatewaySites(tree, globals)];
  for (const { name } of context.namespaces) {
    for (const mention of globals.mentions.get(name) ?? []) sites.push(...sitesOf(mention, tree));
  }
  const sorted = sites.toSorted((a, b) => a.offset - b.offset);
  return sorted.map(({ address, offset }) => ({ address, times: "once", when: "always", ...context.locate(offset) }));
}

function* gatewaySites(tree: Tree, globals: Globals): Generator<Site, void> {
  const mentions: readonly AnyNode[] = GATEWAYS.flatMap((name) => globals.mentions.get(name) ?? []);
  for (const { start } of [...mentions, ...globals.outerThis]) yield dynamicAt(start);
  for (const node of tree.nodes) if (namesConstructor(node)) yield dynamicAt(node.start);
}

/** A function's constructor makes functions from text, and those see the globals. */
function namesConstructor(node: AnyNode): boolean {
  if (node.type === "MemberExpression") return staticName(node.property, node.computed) === "constructor";
  if (node.type !== "ObjectPattern") return false;
  return node.properties.some(
    (part) => part.type === "Property" && staticName(part.key, part.computed) === "constructor",
  );
}

function sitesOf(mention: Identifier, tree: Tree): readonly Site[] {
  const { outermost, parent } = climb(mention, tree);
  if (parent?.type === "UnaryExpression" && parent.operator === "typeof") return [];
  if (parent?.type === "MemberExpression" && parent.object === outermost) {
    return [siteAt(mention.name, staticName(parent.property, parent.computed), mention.start)];
  }
  if (parent?.type === "VariableDeclarator" && parent.id.type === "ObjectPattern") {
    return sitesOfPattern(mention.name, parent.id);
  }
  if (parent?.type === "AssignmentPattern" && parent.right === outermost && parent.left.type === "ObjectPattern") {
    return sitesOfPattern(mention.name, parent.left);
  }
  return [dynamicAt(mention.start)];
}

/** Out of parentheses and optional chains, which change nothing about what is reached. */
function climb(node: AnyNode, tree: Tree): { readonly outermost: AnyNode; readonly parent: AnyNode | undefined } {
  let outermost = node;
  let parent = tree.parentOf(node);
  while (parent?.type === "ParenthesizedExpression" || parent?.type === "ChainExpression") {
    outermost = parent;
    parent = tree.parentOf(parent);
  }
  return { outermost, parent };
}

function sitesOfPattern(namespace: string, pattern: ObjectPattern): readonly Site[] {
  return pattern.properties.map((part) =>
    part.type === "Property"
      ? siteAt(namespace, staticName(part.key, part.computed), part.start)
      : dynamicAt(part.start),
  );
}

/** What every object inherits gives the namespace itself away (`valueOf`) or more than that (`constructor`). */
function siteAt(namespace: string, tool: string | undefined, offset: number): Site {
  if (tool === undefined || Object.hasOwn(Object.prototype, tool)) return dynamicAt(offset);
  return { address: parseToolAddress(`${namespace}.${tool}`) ?? "dynamic", offset };
}

function dynamicAt(offset: number): Site {
  return { address: "dynamic", offset };
}
