/** A program: its source, what analysis found in it, and the calls it can make. */

import type { Digest, ToolAddress } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Effect } from "./tool.ts";

/** A finding of analysis, at a line and column of the author's source (1-based). */
export interface Finding {
  readonly rule: string;
  readonly severity: "error" | "warn" | "info";
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

export interface ProgramCall {
  /** "dynamic" if the source does not determine the tool: any tool of `namespace`, or of all namespaces. */
  readonly address: ToolAddress | "dynamic";
  readonly namespace?: string;
  /** True if the name is computed, but from constants. */
  readonly computed?: boolean;
  /** "many" inside a loop or a function that may be called more than once. */
  readonly times: "once" | "many";
  /** "maybe" after a condition, in a callback, or after an earlier `return`. */
  readonly when: "always" | "maybe";
  /** The arguments with constant values; absent if the call or all of its values are computed. */
  readonly args?: JsonObject;
  readonly line: number;
  readonly column: number;
}

/** A part of the result that is a field of another value, at its line and column. */
export interface ResultRead {
  /** Where it is in the result: keys, and `*` for every item of an array. Empty for the result itself. */
  readonly path: readonly string[];
  /** As written, shortened. */
  readonly expression: string;
  /** The other keys of the object that it is in. */
  readonly beside: readonly string[];
  /** True if no other expression can be the result. */
  readonly isOnly?: boolean;
  /** The tool whose result it is read from, or `input`; absent if the source does not tell. */
  readonly from?: string;
  /** The way from there to the field, such as `items`, `*`, `name`; `(JSON)` parses a string, `(lines)` splits it. */
  readonly steps?: readonly string[];
  /**
   * True if the program computes with it and does not check it, so that a missing field is anywhere in the result. Without
   * `from` it is a value that a function drops in its last line.
   */
  readonly isLoose?: boolean;
  /** True for a computed value that is never null, so that `null` in its place was NaN or infinite. */
  readonly isNumber?: boolean;
  readonly line: number;
  readonly column: number;
}

/** A call of a function that does not exist, with texts that may name a tool. Offsets are in the author's source. */
export interface SpelledCall {
  readonly start: number;
  readonly end: number;
  /** Such as `mcp.callTool`; empty for a program that is a tool call in JSON. */
  readonly callee: string;
  /** The likeliest name first. */
  readonly texts: readonly string[];
  /** Whether a string names the tool, and not the function itself. */
  readonly isNamed: boolean;
  /** True if the server exists and has no such tool. */
  readonly isOwn?: boolean;
  /** The arguments of the tool as written; absent if there are none, or if they are long. */
  readonly args?: string;
  readonly hasArgs: boolean;
}

export interface PlannedCall {
  readonly tool: ToolAddress;
  readonly effect: Effect;
  /** "computed" if a name is computed, or if the program passes a whole namespace around. */
  readonly access: "literal" | "computed";
  readonly times: ProgramCall["times"];
  readonly when: ProgramCall["when"];
  /** The constant arguments, one entry for each call site. */
  readonly args?: readonly JsonObject[];
  readonly at: readonly { readonly line: number; readonly column: number }[];
}

export interface CallPlan {
  /** True if the program cannot call anything else; the bridge enforces an exact plan. */
  readonly exact: boolean;
  readonly calls: readonly PlannedCall[];
  /** The calls that the program begins with, in this order and with these arguments, whatever it reads; absent below 2. */
  readonly start?: readonly { readonly tool: ToolAddress; readonly args: JsonObject }[];
}

/** A parsed and checked source. The sandbox runs nothing else. */
export interface Program {
  /** The digest of `javascript`: the analyzed code is the code that runs. */
  readonly digest: Digest;
  readonly source: string;
  /** For the type checker: an async function's body with types, in which every character keeps its position. */
  readonly checkable: string;
  /** The body of a strict async function: the source without types that returns the last value. */
  readonly javascript: string;
  /** Text that the author did not write, by its position in the code that runs: it maps positions back to the source. */
  readonly insertions: readonly { readonly offset: number; readonly length: number }[];
  readonly calls: readonly ProgramCall[];
  /** How many of them, from the first on, are made before any other code runs, with constants only; absent below 2. */
  readonly start?: number;
  /** Globals that the program uses and that do not exist; absent if there are none. */
  readonly unknownNames?: readonly string[];
  /** Namespaces, and `glovebox`, that it mentions as globals, with or without a call; absent if there are none. */
  readonly mentioned?: readonly string[];
  /** Absent if there are none, or if analysis is off. */
  readonly reads?: readonly ResultRead[];
  /** Calls of functions that do not exist and may mean a tool; absent if there are none. */
  readonly spelled?: readonly SpelledCall[];
  readonly findings: readonly Finding[];
  /** The engine that `auto` starts it on; absent if that is QuickJS. */
  readonly route?: "isolate";
}
