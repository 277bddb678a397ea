/** A rule: a name, a default severity, and a pure check of the syntax tree. */

import type { Finding } from "../../domain/index.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

export interface Objection {
  readonly offset: number;
  /** True when the offset counts in the author's source instead of the tree. */
  readonly inSource?: boolean;
  /** What is wrong and why. */
  readonly message: string;
  /** What to write instead. */
  readonly fix: string;
  /** True if the program cannot run at all: then it is refused with any setting. */
  readonly fatal?: boolean;
  /** True if a call that may change something is concerned: then it is an error, unless the operator set the rule. */
  readonly isChange?: boolean;
}

export interface AnalysisRule {
  /** The key in the configuration. */
  readonly name: string;
  readonly severity: Exclude<Finding["severity"], "info"> | "off";
  check(syntax: ProgramSyntax): readonly Objection[];
}
