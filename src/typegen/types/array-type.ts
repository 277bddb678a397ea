/** Arrays and tuples. A tuple is an array in `items` in draft-07, and `prefixItems` in 2020-12. */

import type { Json, JsonObject } from "../../domain/index.ts";
import { isMark } from "./definitions.ts";
import { enter } from "./scope.ts";
import type { TypeScope } from "./scope.ts";
import { enclose, single } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

const MAX_TUPLE = 16;

interface TupleParts {
  readonly first: readonly Json[];
  readonly rest: Json;
}

/** Returns `T[]`, or a tuple whose members after `minItems` are optional. */
export function toArrayType(schema: JsonObject, outside: TypeScope): TypeText {
  const scope = enter(outside);
  const tuple = toTupleParts(schema);
  if (!tuple) return single(toListText(scope.toType(schema["items"] ?? true, scope)));
  if (tuple.first.length > MAX_TUPLE) return single(`Array<${scope.options.open}>`);
  const min = schema["minItems"];
  const required = typeof min === "number" ? min : 0;
  const members = tuple.first.map((member, at) => toMember(scope.toType(member, scope), at >= required));
  const rest = tuple.rest === false ? [] : [`...${toListText(scope.toType(tuple.rest, scope))}`];
  return single(`[${[...members, ...rest].join(", ")}]`);
}

function toTupleParts(schema: JsonObject): TupleParts | undefined {
  const { prefixItems, items, additionalItems } = schema;
  if (Array.isArray(prefixItems)) return { first: prefixItems, rest: Array.isArray(items) ? true : (items ?? true) };
  return Array.isArray(items) ? { first: items, rest: additionalItems ?? true } : undefined;
}

function toMember(type: TypeText, isOptional: boolean): string {
  return isOptional ? `${enclose(type)}?` : type.text;
}

function toListText(type: TypeText): string {
  return /^[A-Za-z]+$/.test(type.text) || isMark(type.text) ? `${type.text}[]` : `Array<${type.text}>`;
}
