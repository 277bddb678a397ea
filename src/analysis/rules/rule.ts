/** What a rule is: a name, a default severity, and a pure look at the syntax tree. */

import type { AnyNode } from "acorn";
import type { Finding } from "../../domain/index.ts";
import type { Folder } from "../fold.ts";
import type { Tree } from "../read-tree.ts";
import type { Globals } from "../resolve-scopes.ts";
import type { Gate } from "../surroundings.ts";

/** Everything a rule may look at. */
export interface Subject {
  /** As the author wrote it. */
  readonly source: string;
  /** Leads an offset in the tree to the author's own: translated declarations may have moved it. */
  readonly toAuthor: (offset: number) => number;
  readonly tree: Tree;
  readonly globals: Globals;
  readonly folder: Folder;
  /** The innermost function, loop, branch or guard that a node stands in. */
  readonly around: (node: AnyNode) => Gate | undefined;
  /** The program's own functions that may fail: they throw, or call a tool or something else that may. */
  readonly throwing: ReadonlySet<AnyNode>;
  /** The limit of the source's size. */
  readonly sourceBytes: number;
  /** The names of the global objects whose methods are tools. */
  readonly namespaces: ReadonlySet<string>;
}

/** One place that a rule objects to. */
export interface Objection {
  readonly offset: number;
  /** True when the offset counts in the author's source instead of the tree. */
  readonly inSource?: boolean;
  /** What is there and why it is not good. */
  readonly message: string;
  /** What to write instead. */
  readonly fix: string;
  /** True when the program could not run at all: then no setting lets it through. */
  readonly fatal?: boolean;
}

export interface Rule {
  /** The key in the configuration. */
  readonly name: string;
  /** The level when the configuration is silent. */
  readonly severity: Exclude<Finding["severity"], "info"> | "off";
  check(subject: Subject): readonly Objection[];
}
