/** Lists that a plain schema allows: with an item where that is possible, then as short as they may be. */

import type { Json, JsonObject } from "../../domain/index.ts";

import { listOf, numberOf } from "./read-schema.ts";
import type { Maker, Place } from "./sample-values.ts";

const MOST_ITEMS = 1_000;

export function* sampleLists(maker: Maker, plain: JsonObject, place: Place): Iterable<Json> {
  const least = Math.max(0, Math.ceil(numberOf(plain, "minItems") ?? 0), containedOf(plain));
  const most = Math.floor(numberOf(plain, "maxItems") ?? Infinity);
  if (least > most || least > MOST_ITEMS) return;
  const rich = Math.min(most, Math.max(least, prefixOf(plain).length, 1));
  const counts = place.depth < maker.richDepth ? [rich, least] : [least];
  for (const count of new Set(counts)) {
    const list = build(maker, plain, { count, place });
    if (list) yield list;
  }
}

function build(
  maker: Maker,
  plain: JsonObject,
  { count, place }: { readonly count: number; readonly place: Place },
): readonly Json[] | undefined {
  const contained = containedOf(plain);
  const items: Json[] = [];
  for (let index = 0; index < count; index += 1) {
    const [own, wanted] = [itemOf(plain, index), index < contained ? (plain["contains"] ?? true) : true];
    const item = maker.pick(wanted === true ? [own] : [own, wanted], {
      depth: place.depth + 1,
      salt: place.salt + index,
    });
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

/** How many items have to be such as `contains` says. */
function containedOf(plain: JsonObject): number {
  return plain["contains"] === undefined ? 0 : (numberOf(plain, "minContains") ?? 1);
}

/** By place: `prefixItems`, or a list of `items` before 2020. */
function prefixOf(plain: JsonObject): readonly Json[] {
  return Array.isArray(plain["items"]) ? listOf(plain, "items") : listOf(plain, "prefixItems");
}

function itemOf(plain: JsonObject, index: number): Json {
  const prefix = prefixOf(plain);
  const rest = Array.isArray(plain["items"]) ? plain["additionalItems"] : plain["items"];
  return prefix[index] ?? rest ?? true;
}
