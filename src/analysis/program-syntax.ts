/** What rules and the call plan see of a program: its tree and the facts that were read from it. */

import type { AnyNode } from "acorn";
import type { ConstantFolder } from "./fold.ts";
import type { Tree } from "./read-tree.ts";
import type { ProgramNames } from "./resolve-scopes.ts";
import type { Enclosure } from "./surroundings.ts";

/** Everything a rule may look at. */
export interface ProgramSyntax {
  /** As the author wrote it. */
  readonly source: string;
  /** Leads an offset in the tree to the author's own: translated declarations may have moved it. */
  readonly toAuthor: (offset: number) => number;
  readonly tree: Tree;
  readonly globals: ProgramNames;
  readonly folder: ConstantFolder;
  /** The innermost function, loop, branch or guard that a node stands in. */
  readonly around: (node: AnyNode) => Enclosure | undefined;
  /** The program's own functions that may fail: they throw, or call a tool or something else that may. */
  readonly throwing: ReadonlySet<AnyNode>;
  /** The limit of the source's size. */
  readonly sourceBytes: number;
  /** The names of the global objects whose methods are tools. */
  readonly namespaces: ReadonlySet<string>;
}
