/** Follows references and forks of a schema until only plain keywords are left: one plain schema for each way. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../domain/index.ts";
import { refOf, resolveRef } from "../../typegen/index.ts";
import { modernize } from "../check-schema.ts";

import { mergeSchemas } from "./merge-schemas.ts";
import { listOf } from "./read-schema.ts";

/** What an expansion may look at and use up. */
export interface Expansion {
  readonly root: JsonSchema;
  /** Counts one step of work; throws when there have been too many. */
  readonly step: () => void;
  /** True where the value should stay small: ways without a reference come first then. */
  readonly isLean: boolean;
}

/** References that lead to references; a longer chain leads nowhere. */
const MOST_REFS = 64;
const FORKS = ["anyOf", "oneOf"] as const;
/** They are followed here, or say nothing about how a value could look. */
const FOLLOWED = ["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "not"];

/** All of `parts` hold for the value. Ways that contradict themselves are left out. */
export function* expandSchema(
  parts: readonly Json[],
  expansion: Expansion,
  { plain = {}, refs = 0 }: { readonly plain?: JsonObject; readonly refs?: number } = {},
): Iterable<JsonObject> {
  expansion.step();
  const [first, ...rest] = parts;
  if (first === undefined) yield plain;
  if (first === undefined || first === false || refs > MOST_REFS) return;
  const own = isJsonObject(first) ? modernize(first) : {};
  const ref = refOf(own);
  const target = ref === undefined ? [] : [resolveRef(expansion.root, ref) ?? true];
  const merged = mergeSchemas(plain, withoutFollowed(own));
  if (!merged) return;
  const others = [...target, ...listOf(own, "allOf"), ...rest];
  for (const way of waysOf(own, expansion.isLean)) {
    yield* expandSchema([...way, ...others], expansion, { plain: merged, refs: refs + target.length });
  }
}

/** `const` becomes a list of one, so that two of them meet. */
function withoutFollowed({ const: only, ...schema }: JsonObject): JsonObject {
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !FOLLOWED.includes(keyword)));
  return only === undefined ? kept : { ...kept, enum: [only] };
}

/** Each way is what holds in addition. A second fork of the same schema comes as a part of its own. */
function waysOf(schema: JsonObject, isLean: boolean): readonly (readonly Json[])[] {
  const [keyword, other] = FORKS.filter((fork) => listOf(schema, fork).length > 0);
  const condition = conditionOf(schema);
  if (keyword === undefined) return condition;
  const more = other === undefined ? [] : [{ [other]: listOf(schema, other) }];
  const branches = inOrder(listOf(schema, keyword), isLean);
  return branches.flatMap((branch) => condition.map((extra) => [branch, ...more, ...extra]));
}

function conditionOf(schema: JsonObject): readonly (readonly Json[])[] {
  const { if: when, then = true, else: otherwise = true } = schema;
  return when === undefined ? [[]] : [[when, then], [otherwise]];
}

/** `null` tells least, so it comes last; but where a value should stay small, what names another schema does. */
function inOrder(branches: readonly Json[], isLean: boolean): readonly Json[] {
  const isLast = (branch: Json): boolean =>
    isLean ? NAMES_ANOTHER.test(JSON.stringify(branch)) : isJsonObject(branch) && branch["type"] === "null";
  return branches.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)));
}

const NAMES_ANOTHER = /"\$(?:dynamic|recursive)?[Rr]ef":/;
