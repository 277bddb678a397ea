/** Walks a syntax tree without recursion: a chain of a hundred thousand calls is a tree just as deep. */

import type { AnyNode, Program as Root } from "acorn";

/** A syntax tree in which one can also go up. */
export interface Tree {
  readonly root: Root;
  /** Parents before children, otherwise in the order of the source. */
  readonly nodes: readonly AnyNode[];
  parentOf(node: AnyNode): AnyNode | undefined;
}

/** Indexes the whole tree once. */
export function readTree(root: Root): Tree {
  const parents = new Map<AnyNode, AnyNode>();
  const nodes = [...readNodes(root, parents)];
  return { root, nodes, parentOf: (node) => parents.get(node) };
}

/** The nodes one by one, for a question that can stop early; fills `parents` on the way if it is given. */
export function* readNodes(root: AnyNode, parents?: Map<AnyNode, AnyNode>): Generator<AnyNode, void> {
  const open: AnyNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    yield node;
    const children = childrenOf(node);
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = children[index];
      if (!child) continue;
      parents?.set(child, node);
      open.push(child);
    }
  }
}

/** What stands inside any number of parentheses. */
export function withoutParens(node: AnyNode): AnyNode {
  let inner = node;
  while (inner.type === "ParenthesizedExpression") inner = inner.expression;
  return inner;
}

/** The name of a member or key when the source fixes it: `.name`, `["name"]` or a template without holes. */
export function staticName(key: AnyNode, computed: boolean): string | undefined {
  const inner = withoutParens(key);
  if (!computed && inner.type === "Identifier") return inner.name;
  if (inner.type === "Literal") return typeof inner.value === "string" ? inner.value : undefined;
  if (inner.type !== "TemplateLiteral" || inner.expressions.length > 0) return undefined;
  return inner.quasis[0]?.value.cooked ?? undefined;
}

function childrenOf(node: AnyNode): readonly AnyNode[] {
  const children: AnyNode[] = [];
  for (const value of Object.values(node)) {
    const candidates: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const candidate of candidates) if (isNode(candidate)) children.push(candidate);
  }
  return children;
}

/** Node fields hold nodes, strings, numbers and, in a literal, a pattern; only nodes have a `type`. */
function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
