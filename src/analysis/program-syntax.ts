/** What rules and the call plan see of a program: its tree and the facts that were read from it. */

import type { AnyNode } from "acorn";
import type { Namespace } from "../domain/index.ts";
import { createConstantFolder } from "./fold.ts";
import type { ConstantFolder } from "./fold.ts";
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
