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

function openTools(definitions: readonly object[]) {
  const connector = parseConnectorId("kanban") ?? assert.fail();
  const listing = parseListing(definitions, (text) => text);
  return createSearch(createSnapshot([{ connector, namespace: "kanban", listing }], 0));
}

/** Named after paths, as tools of OpenAPI documents often are: all four have nearly the same words. */
function openSearch(annotations: Readonly<Record<string, object>>) {
  const definitions = Object.entries(annotations).map(([name, own]) => ({
    name,
    description: "Cards and boards",
    input: { type: "object" },
    output: null,
    annotations: own,
  }));
  const search = openTools(definitions);
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

it("a tool that matches most words of a query beats one that matches only a rare word", () => {
  const definitions = [
    ["draw_zebra", "Draws an animal"],
    ["print_poster", "Prints a poster of a zebra in color on paper"],
    ["print_page", "Prints a page in color"],
    ["buy_paper", "Orders paper and color"],
    ["color_page", "Paper with color"],
  ].map(([name, description]) => ({ name, description, input: { type: "object" }, output: null }));
  const search = openTools(definitions);
  const placeOf = (query: string, name: string) =>
    search({ query, limit: 5 }).tools.findIndex(({ upstreamName }) => upstreamName === name);
  assert.equal(placeOf("zebra color paper", "print_poster"), 0);
  assert.ok(placeOf("zebra color paper", "buy_paper") < placeOf("zebra color paper", "draw_zebra"));
  assert.equal(placeOf("zebra", "draw_zebra"), 0);
});

it("polite words before a request are not searched for", () => {
  const definitions = [
    ["search_knowledge", "Searches what is known"],
    ["list_trains", "Lists trains with their times"],
  ].map(([name, description]) => ({ name, description, input: { type: "object" }, output: null }));
  const search = openTools(definitions);
  const namesOf = (query: string) => search({ query }).tools.map(({ upstreamName }) => upstreamName);
  assert.deepEqual(namesOf("I'd like to know which trains leave"), ["list_trains"]);
  assert.deepEqual(namesOf("what do you know"), ["search_knowledge"]);
});

it("a query in everyday words finds the tools of its topic, but not the reverse", () => {
  const definitions = [
    ["get_forecast", "Weather of the coming days"],
    ["sell_umbrella", "Sells an umbrella"],
  ].map(([name, description]) => ({ name, description, input: { type: "object" }, output: null }));
  const search = openTools(definitions);
  const namesOf = (query: string) => search({ query }).tools.map(({ upstreamName }) => upstreamName);
  assert.ok(namesOf("an umbrella tomorrow").includes("get_forecast"));
  assert.deepEqual(namesOf("weather"), ["get_forecast"]);
});
