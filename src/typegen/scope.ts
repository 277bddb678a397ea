/** What the parts of one conversion share: the document, the options, and a budget that all branches draw on. */

import type { Json, JsonSchema } from "../domain/index.ts";
import type { TypeText } from "./type-text.ts";

/** How a type is written down. */
export interface TypeOptions {
  /** What stands for a value that the schema does not describe. */
  readonly open: "unknown" | "any";
  /** Characters of a property's comment; 0 writes none. */
  readonly commentLength: number;
  /** How far the lines of an object are indented, in steps of two spaces. */
  readonly indent: number;
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
  readonly depth: number;
  /** References that are being followed here; meeting one again is a cycle. */
  readonly refs: readonly string[];
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
