/** Values of `const` and `enum` as types. */

import type { Json } from "../../domain/index.ts";
import { quote } from "../escape-text.ts";
import { spend } from "./scope.ts";
import type { TypeScope } from "./scope.ts";
import { open, single } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

/** A longer string is data, not a choice. */
const MAX_LITERAL_LENGTH = 200;

/** Returns the literal type of a value, or its general type for values without a short literal. */
export function toLiteralType(value: Json, scope: TypeScope): TypeText {
  if (typeof value === "string") return toText(value, scope);
  if (typeof value === "boolean" || value === null) return single(String(value));
  if (typeof value !== "number") return toStructure(value, scope);
  return Number.isFinite(value) ? toShort(JSON.stringify(value), scope) : single("number");
}

function toText(value: string, scope: TypeScope): TypeText {
  return value.length > MAX_LITERAL_LENGTH ? single("string") : toShort(quote(value), scope);
}

function toShort(text: string, scope: TypeScope): TypeText {
  return spend(scope, text.length) ? single(text) : open(scope.options.open);
}

function toStructure(value: Json, scope: TypeScope): TypeText {
  return single(Array.isArray(value) ? `Array<${scope.options.open}>` : `Record<string, ${scope.options.open}>`);
}
