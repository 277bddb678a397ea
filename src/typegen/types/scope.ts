/** What the parts of one conversion share: the document, the options and a common budget. */

import type { Json, JsonSchema } from "../../domain/index.ts";
import type { Definition } from "./definitions.ts";
import type { TypeText } from "./type-text.ts";

export interface TypeOptions {
  /** The type of a value that the schema does not describe. */
  readonly open: "unknown" | "any";
  /** Maximum length of a property's comment; 0 means no comments. */
  readonly commentLength: number;
  /** Indentation of the lines of an object, in steps of two spaces. */
  readonly indent: number;
  readonly examples: boolean;
}

export interface TypeScope {
  readonly root: JsonSchema;
  readonly options: TypeOptions;
  /** Levels since the start or the last reference. */
  readonly depth: number;
  readonly level: number;
  /** References followed without entering an object or array; following one again would define a type as itself. */
  readonly refs: readonly string[];
  /** True if other schemas describe the same value: the root, and parts of `allOf`, `anyOf` and `oneOf`. */
  readonly isPart: boolean;
  readonly definitions: Map<string, Definition>;
  /** What remains for the whole conversion. */
  readonly budget: { nodes: number; characters: number };
  readonly toType: (schema: Json, scope: TypeScope) => TypeText;
}

/** Subtracts characters from the budget; returns false if there are not enough. */
export function spend(scope: TypeScope, characters: number): boolean {
  if (scope.budget.characters < characters) return false;
  scope.budget.characters -= characters;
  return true;
}

/** Returns the scope of a member of an object or array, where a recursive type may refer to itself. */
export function enter(scope: TypeScope): TypeScope {
  return { ...scope, refs: [], isPart: false };
}
