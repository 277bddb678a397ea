/** The intent of a query decides between tools with the same words. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import { createSnapshot } from "../create-snapshot.ts";
import { parseListing } from "../parse-listing.ts";
import { weighEffects } from "./rank-tools.ts";
import { createSearch } from "./search.ts";

const READS = { readOnly: true };
const WRITES = { readOnly: false, destructive: false };
const DESTROYS = { readOnly: false, destructive: true };

/** Named after paths, as tools of OpenAPI documents often are: all four have nearly the same words. */
function openSearch(annotations: Readonly<Record<string, object>>) {
  const definitions = Object.entries(annotations).map(([name, own]) => ({
    name,
    description: "Cards and boards",
    input: { type: "object" },
    output: null,
    annotations: own,
  }));
  const connector = parseConnectorId("kanban") ?? assert.fail();
  const listing = parseListing(definitions, (text) => text);
  const search = createSearch(createSnapshot([{ connector, namespace: "kanban", listing }], 0));
  return (query: string) => search({ query, limit: 1 }).tools[0]?.upstreamName;
}

describe("a query", () => {
  const best = openSearch({
    boards_cards_one: READS,
    boards_cards_two: WRITES,
    boards_cards_six: DESTROYS,
  });
  for (const [query, name] of [
    ["which cards are on the boards", "boards_cards_one"],
    ["show the cards of my boards", "boards_cards_one"],
    ["schedule cards on boards", "boards_cards_two"],
    ["upload the cards to the boards", "boards_cards_two"],
    ["wipe the cards off the boards", "boards_cards_six"],
  ] as const)
    it(`"${query}" ranks a tool with the matching effect first`, () => assert.equal(best(query), name));

  it("without a verb has no preference for an effect", () => {
    assert.deepEqual(weighEffects("cards boards"), { read: 1, write: 1, destroy: 1, unknown: 1 });
  });

  it("takes its intent from its first known verb", () => {
    assert.deepEqual(weighEffects("please show me how to delete cards"), weighEffects("show"));
    assert.notDeepEqual(weighEffects("please delete what you show"), weighEffects("show"));
  });

  it("a query does not penalize tools with an unknown effect", () => {
    for (const word of ["show", "create", "delete"]) assert.equal(weighEffects(word).unknown, 1);
  });

  it("finds tools with another effect if none is better", () => {
    assert.equal(openSearch({ boards_cards: READS })("delete cards from boards"), "boards_cards");
  });
});
