/** Source text on its way to the isolate. */

import type { Digest, ToolAddress } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Effect } from "./tool.ts";

export type Severity = "error" | "warn" | "info";

/** Something that analysis noticed, in the author's own lines and columns (1-based). */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** One place in a program from which tools can be reached. */
export interface CallSite {
  /** "dynamic" when the text does not fix the tool: any of `namespace`, or of all when that is not given either. */
  readonly address: ToolAddress | "dynamic";
  readonly namespace?: string;
  /** True when the name is computed, though the text fixes what it comes to. */
  readonly computed?: boolean;
  /** Whether it is in a loop, or in a function that may be called more than once. */
  readonly times: "once" | "many";
  /** "maybe" when a condition, a callback or an earlier `return` stands before it. */
  readonly when: "always" | "maybe";
  /** Those arguments whose values the text fixes; left out when the call or all of its values are computed. */
  readonly args?: JsonObject;
  readonly line: number;
  readonly column: number;
}

/** What a program can reach of one tool. */
export interface PlannedCall {
  readonly tool: ToolAddress;
  readonly effect: Effect;
  /** "computed" when a name is put together, or when the program handles a whole namespace. */
  readonly access: "literal" | "computed";
  readonly times: CallSite["times"];
  readonly when: CallSite["when"];
  /** What the text fixes of the arguments, by place. */
  readonly args?: readonly JsonObject[];
  readonly at: readonly { readonly line: number; readonly column: number }[];
}

/** Everything that a program can call. */
export interface CallPlan {
  /** True when the program can reach nothing else: then the bridge holds it to the plan. */
  readonly exact: boolean;
  readonly calls: readonly PlannedCall[];
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
  /**
   * What a type checker should read: the source, character by character at its own place, with fence, hashbang and
   * `export default` taken out. The body of an async function, types still in it.
   */
  readonly checkable: string;
  /** The body of a strict async function: the source with types blanked and the last value returned. */
  readonly javascript: string;
  readonly insertions: readonly Insertion[];
  readonly calls: readonly CallSite[];
  /** Globals that the program uses and that nothing is called; left out when there are none. */
  readonly unknownNames?: readonly string[];
  readonly findings: readonly Finding[];
}
