/** Walks a syntax tree without recursion: a chain of a hundred thousand calls gives a tree of that depth. */

import type { AnyNode, Program as Root } from "acorn";

export interface Tree {
  readonly root: Root;
  /** Parents before children, otherwise in source order. */
  readonly nodes: readonly AnyNode[];
  /** For each node the index of its parent; -1 for the root. */
  readonly parents: readonly number[];
  parentOf(node: AnyNode): AnyNode | undefined;
  /** A node and everything in it, in the order of `nodes`. */
  within(node: AnyNode): readonly AnyNode[];
}

export function readTree(root: Root): Tree {
  const nodes: AnyNode[] = [];
  const parents: number[] = [];
  const open: AnyNode[] = [root];
  const openParents: number[] = [-1];
  for (let node = open.pop(); node; node = open.pop()) {
    parents.push(openParents.pop() ?? -1);
    nodes.push(node);
    const first = open.length;
    pushChildren(node, open);
    reverseFrom(open, first);
    for (let index = first; index < open.length; index += 1) openParents.push(nodes.length - 1);
  }
  return { root, nodes, parents, ...createAscent(nodes, parents) };
}

/** The index of all nodes is slow to build and rarely needed, so it is built on first use. */
function createAscent(nodes: readonly AnyNode[], parents: readonly number[]): Pick<Tree, "parentOf" | "within"> {
  let indexes: ReadonlyMap<AnyNode, number> | undefined;
  let sizes: Uint32Array | undefined;
  const indexOf = (node: AnyNode): number => {
    indexes ??= new Map(nodes.map((each, index) => [each, index]));
    return indexes.get(node) ?? -1;
  };
  return {
    parentOf: (node) => nodes[parents[indexOf(node)] ?? -1],
    within(node) {
      const index = indexOf(node);
      sizes ??= measureParts(parents);
      return index < 0 ? [] : nodes.slice(index, index + (sizes[index] ?? 1));
    },
  };
}

/** Children follow their parents, so counting from the end sees every part before its whole. */
function measureParts(parents: readonly number[]): Uint32Array {
  const sizes = new Uint32Array(parents.length).fill(1);
  for (let index = parents.length - 1; index > 0; index -= 1) {
    const parent = parents[index] ?? -1;
    if (parent >= 0) sizes[parent] = (sizes[parent] ?? 1) + (sizes[index] ?? 1);
  }
  return sizes;
}

/** Yields the nodes in no particular order, for searches that can stop early. */
export function* readNodes(root: Root): Generator<AnyNode, void> {
  const open: AnyNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    yield node;
    pushChildren(node, open);
  }
}

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

function pushChildren(node: AnyNode, onto: AnyNode[]): void {
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) onto.push(item);
    } else if (isNode(value)) onto.push(value);
  }
}

/** Reverses the tail, so that popping returns it in source order. */
function reverseFrom(list: AnyNode[], start: number): void {
  if (list.length - start < 2) return;
  for (let low = start, high = list.length - 1; low < high; low += 1, high -= 1) {
    const [a, b] = [list[low], list[high]];
    if (a && b) [list[low], list[high]] = [b, a];
  }
}

/** Node fields hold nodes, strings, numbers and, in a literal, a pattern; only nodes have a `type`. */
function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
