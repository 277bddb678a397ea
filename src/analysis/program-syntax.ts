/**
 * What rules and the call plan see of a program: its tree and the facts that were read from it. Recognizes tool calls by
 * their form: a method of a global namespace, or an alias of either.
 */

import type { AnyNode, Identifier } from "acorn";
import type { Namespace } from "../domain/index.ts";
import { createConstantFolder } from "./fold.ts";
import type { ConstantFolder } from "./fold.ts";
import { withoutParens } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";
import { resolveScopes } from "./resolve-scopes.ts";
import type { ProgramNames } from "./resolve-scopes.ts";
import { readSurroundings } from "./surroundings.ts";
import type { Enclosure } from "./surroundings.ts";

export interface ProgramSyntax {
  /** As the author wrote it. */
  readonly source: string;
  /** Maps an offset in the tree to the author's source; translated declarations may have moved it. */
  readonly toAuthor: (offset: number) => number;
  readonly tree: Tree;
  readonly globals: ProgramNames;
  readonly folder: ConstantFolder;
  /** The innermost function, loop, branch or guard around a node. */
  readonly around: (node: AnyNode) => Enclosure | undefined;
  readonly sourceBytes: number;
  /** The names of the global objects whose methods are tools. */
  readonly namespaces: ReadonlySet<string>;
}

/** The surroundings are read on first use. */
export function readSyntax(
  input: Pick<ProgramSyntax, "source" | "tree" | "sourceBytes" | "toAuthor"> & {
    readonly namespaces: readonly Namespace[];
  },
): ProgramSyntax {
  const { tree } = input;
  const globals = resolveScopes(tree);
  const namespaces = new Set(input.namespaces.map(({ name }) => name));
  let around: ProgramSyntax["around"] | undefined;
  return {
    ...input,
    globals,
    namespaces,
    folder: createConstantFolder({ tree, globals }),
    around: (node) => (around ??= readSurroundings(tree))(node),
  };
}

/** Returns the namespace whose method is called, or `undefined` if this is not a tool call. */
export function calledNamespace(expression: AnyNode, names: ProgramSyntax): string | undefined {
  const call = withoutChain(expression);
  const callee = call.type === "CallExpression" ? withoutChain(call.callee) : undefined;
  if (callee?.type === "Identifier") return namespaceOfTool(callee, names);
  return callee?.type === "MemberExpression" ? namespaceAt(callee.object, names) : undefined;
}

/** `tools`, or `api` after `const api = tools`. */
export function namespaceAt(node: AnyNode, names: ProgramSyntax): string | undefined {
  const object = withoutChain(node);
  const alias = names.globals.valueOf(object);
  const name = alias ? withoutChain(alias) : object;
  const isGlobal = name.type === "Identifier" && !names.globals.bindingOf(name);
  return isGlobal && names.namespaces.has(name.name) ? name.name : undefined;
}

/** `echo` after `const { echo } = tools` or `const echo = tools.echo`. */
function namespaceOfTool(callee: Identifier, names: ProgramSyntax): string | undefined {
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
