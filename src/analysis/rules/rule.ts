/** What a rule is: a name, a default severity, and a pure look at the syntax tree. */

import type { Finding } from "../../domain/index.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

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

export interface AnalysisRule {
  /** The key in the configuration. */
  readonly name: string;
  /** The level when the configuration is silent. */
  readonly severity: Exclude<Finding["severity"], "info"> | "off";
  check(syntax: ProgramSyntax): readonly Objection[];
}
