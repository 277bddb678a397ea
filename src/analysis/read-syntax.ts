/** Reads the facts that rules and the call plan need from a syntax tree. */

import type { AnyNode } from "acorn";
import type { Namespace } from "../domain/index.ts";
import { createConstantFolder } from "./fold.ts";
import { findThrowing } from "./may-fail.ts";
import type { Tree } from "./read-tree.ts";
import { resolveScopes } from "./resolve-scopes.ts";
import type { ProgramSyntax } from "./program-syntax.ts";
import { readSurroundings } from "./surroundings.ts";

interface SyntaxInput {
  readonly source: string;
  readonly tree: Tree;
  readonly namespaces: readonly Namespace[];
  readonly sourceBytes: number;
  readonly toAuthor: (offset: number) => number;
}

/** Facts that need more than one pass are computed on first use. */
export function readSyntax({ source, tree, namespaces, sourceBytes, toAuthor }: SyntaxInput): ProgramSyntax {
  const globals = resolveScopes(tree);
  const names = new Set(namespaces.map(({ name }) => name));
  const lazy: { around?: ProgramSyntax["around"]; throwing?: ReadonlySet<AnyNode> } = {};
  const around: ProgramSyntax["around"] = (node) => (lazy.around ??= readSurroundings(tree))(node);
  return {
    source,
    tree,
    globals,
    namespaces: names,
    sourceBytes,
    toAuthor,
    folder: createConstantFolder({ tree, globals }),
    around,
    get throwing() {
      return (lazy.throwing ??= findThrowing({ tree, globals, namespaces: names, around }));
    },
  };
}
