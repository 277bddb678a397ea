/** Source text on its way to the isolate. */

import type { Digest, ToolAddress } from "./ids.ts";

export type Severity = "error" | "warn" | "info";

/** Something that analysis noticed, in the author's own lines and columns (1-based). */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

export interface CallSite {
  readonly address: ToolAddress | "dynamic";
  readonly line: number;
  readonly column: number;
}

/** Text that was put into the source at `offset`, so that a position can be led back to the author's own. */
export interface Insertion {
  /** Where, in the text that runs. */
  readonly offset: number;
  readonly length: number;
}

/** Source that was parsed and checked. The only thing the sandbox runs. */
export interface Program {
  /** Of `javascript`: what was analyzed is what runs. */
  readonly digest: Digest;
  readonly source: string;
  /** The body of a strict async function: the source with types blanked and the last value returned. */
  readonly javascript: string;
  readonly insertions: readonly Insertion[];
  readonly calls: readonly CallSite[];
  readonly findings: readonly Finding[];
}
