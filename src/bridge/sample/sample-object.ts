/** Objects that a plain schema allows: with everything that it speaks of, then with only what it requires. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { mapOf, namesOf, numberOf } from "./read-schema.ts";
import type { Maker, Place } from "./sample-values.ts";

/** Optional ones; a schema with more is told by its first. */
const MOST_OPTIONAL = 100;
const MOST_ADDED = 1_000;

export function* sampleObjects(maker: Maker, plain: JsonObject, place: Place): Iterable<Json> {
  const most = numberOf(plain, "maxProperties") ?? Infinity;
  const required = withDependents(plain, namesOf(plain, "required"));
  const declared = [...mapOf(plain, "properties").keys()].slice(0, MOST_OPTIONAL);
  const optional = withDependents(plain, [...required, ...declared]).slice(required.length, Math.max(0, most));
  if (place.depth < maker.richDepth && optional.length > 0) {
    const whole = build(maker, { plain, required, optional }, place);
    if (whole) yield whole;
  }
  const least = build(maker, { plain, required, optional: [] }, place);
  if (least) yield least;
}

interface Wanted {
  readonly plain: JsonObject;
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** `undefined` when something required cannot be made; an optional one is left out then. */
function build(maker: Maker, { plain, required, optional }: Wanted, place: Place): JsonObject | undefined {
  const inner = { depth: place.depth + 1, salt: place.salt };
  const fields = new Map<string, Json>();
  for (const name of required) {
    const value = maker.pick(partsOf(plain, name), inner);
    if (value === undefined) return undefined;
    fields.set(name, value);
  }
  for (const name of optional) {
    const value = maker.pick(partsOf(plain, name), inner);
    if (value !== undefined) fields.set(name, value);
  }
  return addMissing(maker, plain, { fields, inner }) ? Object.fromEntries(fields) : undefined;
}

/** Free names until there are enough; false when there cannot be. */
function addMissing(
  maker: Maker,
  plain: JsonObject,
  { fields, inner }: { readonly fields: Map<string, Json>; readonly inner: Place },
): boolean {
  const least = numberOf(plain, "minProperties") ?? 0;
  if (least > MOST_ADDED) return false;
  const declared = [...mapOf(plain, "properties").keys()].filter((name) => !fields.has(name));
  const wanted = [...declared, ...freeNames(maker, plain, least)];
  for (const name of wanted) {
    if (fields.size >= least) return true;
    const value = maker.pick(partsOf(plain, name), inner);
    if (value !== undefined) fields.set(name, value);
  }
  return fields.size >= least;
}

/** As `propertyNames` wants them. */
function freeNames(maker: Maker, plain: JsonObject, count: number): readonly string[] {
  const { propertyNames } = plain;
  const numbers = Array.from({ length: count }, (_, index) => index);
  if (propertyNames === undefined) return numbers.map((index) => `key${index + 1}`);
  const made = numbers.map((salt) => maker.pick([{ type: "string" }, propertyNames], { depth: 0, salt }));
  return made.filter((name) => typeof name === "string");
}

/** Everything that is said about the value under a name. Patterns are not run, so what they add is not known. */
function partsOf(plain: JsonObject, name: string): readonly Json[] {
  const { properties } = plain;
  const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own !== undefined) return [own];
  const patterned = [...mapOf(plain, "patternProperties").values()];
  return [patterned[0] ?? plain["additionalProperties"] ?? true];
}

/** What is there needs what it depends on (`dependentRequired`, and `dependencies` of draft-07). */
function withDependents(plain: JsonObject, names: readonly string[]): readonly string[] {
  const wanted = new Set(names);
  for (const name of wanted) {
    for (const keyword of ["dependentRequired", "dependencies"]) {
      for (const one of namesOf(Object.fromEntries(mapOf(plain, keyword)), name)) wanted.add(one);
    }
  }
  return [...wanted];
}
