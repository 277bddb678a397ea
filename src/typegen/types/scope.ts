/** What the parts of one conversion share: the document, the options, and a budget that all branches draw on. */

import type { Json, JsonSchema } from "../../domain/index.ts";
import type { Definition } from "./definitions.ts";
import type { TypeText } from "./type-text.ts";

/** How a type is written down. */
export interface TypeOptions {
  /** What stands for a value that the schema does not describe. */
  readonly open: "unknown" | "any";
  /** Characters of a property's comment; 0 writes none. */
  readonly commentLength: number;
  /** How far the lines of an object are indented, in steps of two spaces. */
  readonly indent: number;
  /** Whether comments show the schema's examples. */
  readonly examples: boolean;
}

/** What one conversion may still spend. Shared by all of its branches. */
interface Budget {
  nodes: number;
  characters: number;
}

/** Where in the schema a piece of the conversion is. */
export interface Scope {
  readonly root: JsonSchema;
  readonly options: TypeOptions;
  /** Levels since the start or the last reference. */
  readonly depth: number;
  /** Levels since the start. */
  readonly level: number;
  /** References followed without entering an object or array; meeting one again would define a type as itself. */
  readonly refs: readonly string[];
  /** Whether others speak of the same value too: it is the whole, or one of several that hold together or in turn. */
  readonly isPart: boolean;
  readonly definitions: Map<string, Definition>;
  readonly budget: Budget;
  /** The type of a part of the schema, one level deeper. */
  readonly toType: (schema: Json, scope: Scope) => TypeText;
}

/** Takes the text from the budget; false when there is not enough left for it. */
export function spend(scope: Scope, characters: number): boolean {
  if (scope.budget.characters < characters) return false;
  scope.budget.characters -= characters;
  return true;
}

/** The scope of a member of an object or array, where a recursive type may name itself. */
export function enter(scope: Scope): Scope {
  return { ...scope, refs: [], isPart: false };
}
