/**
 * What rules and the call plan see of a program: its tree and the facts that were read from it. Recognizes tool calls by
 * their form: a method of a global namespace, or an alias of either.
 */

import type { AnyNode, Identifier, MemberExpression } from "acorn";
import type { ApiSurface } from "../domain/index.ts";
import { createConstantFolder } from "./fold.ts";
import type { ConstantFolder } from "./fold.ts";
import { staticName, withoutParens } from "./read-tree.ts";
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
  /** False for a tool that may change something, and for an unknown one; absent while a server's tools are unknown. */
  readonly isRead: (namespace: string, tool: string | undefined) => boolean | undefined;
  /** The names of its tools, as far as they are known. */
  readonly toolsOf: (namespace: string) => readonly string[];
}

/** What is known of the API. */
export type KnownApi = Pick<ApiSurface, "namespaces" | "effectOf">;

/** The surroundings are read on first use. */
export function readSyntax(
  input: Pick<ProgramSyntax, "source" | "tree" | "sourceBytes" | "toAuthor"> & { readonly api: KnownApi },
): ProgramSyntax {
  const { tree, api } = input;
  const globals = resolveScopes(tree);
  const namespaces = new Set(api.namespaces.map(({ name }) => name));
  const toolsOf = (namespace: string): readonly string[] =>
    api.namespaces.find(({ name }) => name === namespace)?.tools ?? [];
  let around: ProgramSyntax["around"] | undefined;
  return {
    ...input,
    globals,
    namespaces,
    toolsOf,
    isRead: (namespace, tool) =>
      api.effectOf && toolsOf(namespace).length > 0 ? api.effectOf(`${namespace}.${tool ?? ""}`) === "read" : undefined,
    folder: createConstantFolder({ tree, globals }),
    around: (node) => (around ??= readSurroundings(tree))(node),
  };
}

/** Returns the namespace whose method is called, or `undefined` if this is not a tool call. */
export function calledNamespace(expression: AnyNode, names: ProgramSyntax): string | undefined {
  return calledTool(expression, names)?.namespace;
}

export interface ToolReference {
  readonly namespace: string;
  /** `undefined` if the name is computed. */
  readonly tool: string | undefined;
}

/** Returns `undefined` if this is not a tool call. */
export function calledTool(expression: AnyNode, names: ProgramSyntax): ToolReference | undefined {
  const call = withoutChain(expression);
  const callee = call.type === "CallExpression" ? withoutChain(call.callee) : undefined;
  if (callee?.type === "Identifier") return toolOfName(callee, names);
  return callee?.type === "MemberExpression" ? toolAt(callee, names) : undefined;
}

function toolAt({ object, property, computed }: MemberExpression, names: ProgramSyntax): ToolReference | undefined {
  const namespace = namespaceAt(object, names);
  return namespace === undefined ? undefined : { namespace, tool: staticName(property, computed) };
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
function toolOfName(callee: Identifier, names: ProgramSyntax): ToolReference | undefined {
  const value = names.globals.valueOf(callee);
  const member = value && withoutChain(value);
  if (member) return member.type === "MemberExpression" ? toolAt(member, names) : undefined;
  const [declarer, ...others] = names.globals.bindingOf(callee)?.declarers ?? [];
  if (others.length > 0 || declarer?.type !== "VariableDeclarator" || !declarer.init) return undefined;
  if (declarer.id.type !== "ObjectPattern") return undefined;
  const part = declarer.id.properties.find(
    (one) => one.type === "Property" && one.value.type === "Identifier" && one.value.name === callee.name,
  );
  const namespace = part && namespaceAt(declarer.init, names);
  if (namespace === undefined || part?.type !== "Property") return undefined;
  return { namespace, tool: staticName(part.key, part.computed) };
}

export function withoutChain(node: AnyNode): AnyNode {
  const inner = withoutParens(node);
  return inner.type === "ChainExpression" ? inner.expression : inner;
}
