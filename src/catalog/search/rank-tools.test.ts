/** The intent of a query decides between tools with the same words. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import { createSnapshot } from "../create-snapshot.ts";
import { parseListing } from "../parse-listing.ts";
import { weighEffects } from "./rank-tools.ts";
import { createSearch } from "./search.ts";

const READS = { readOnly: true };
const WRITES = { readOnly: false, destructive: false };
const DESTROYS = { readOnly: false, destructive: true };

function openTools(definitions: readonly object[]) {
  const connector = parseConnectorId("kanban") ?? assert.fail();
  const listing = runAtOnce(parseListing(definitions, (text) => text));
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

it("finds a tool by the fields that its result is declared to have", () => {
  const output = { type: "object", properties: { humidity: { type: "number", description: "In percent" } } };
  const definitions = [
    { name: "get_current", description: "Returns the state", input: { type: "object" }, output },
    { name: "get_other", description: "Returns something", input: { type: "object" }, output: null },
  ];
  const search = openTools(definitions);
  const namesOf = (query: string) => search({ query }).tools.map(({ upstreamName }) => upstreamName);
  assert.deepEqual(namesOf("humidity"), ["get_current"]);
  assert.deepEqual(namesOf("pressure"), []);
});

describe("a tool for many at once", () => {
  const search = openTools(
    ["read_multiple_notes", "read_long_note"].map((name) => {
      return { name, description: "Reads what is in notes", input: { type: "object" }, output: null };
    }),
  );
  for (const [query, name] of [
    ["read a note", "read_long_note"],
    ["read multiple notes", "read_multiple_notes"],
  ] as const) {
    it(`"${query}" finds ${name} first`, () => assert.equal(search({ query }).tools[0]?.upstreamName, name));
  }
});

it("what a model says about tools in general is not searched for, and has no intent", () => {
  const definitions = [
    ["find_reports", "Finds reports", READS],
    ["create_report", "Creates a report", WRITES],
  ].map(([name, description, annotations]) => ({ name, description, input: {}, output: null, annotations }));
  const search = openTools(definitions);
  const best = (query: string) => search({ query }).tools[0]?.upstreamName;
  for (const before of [
    "Find a tool to",
    "a tool that can",
    "I need tools capable of",
    "Search for some tool which can",
  ]) {
    assert.equal(best(`${before} create a report`), "create_report", before);
  }
  assert.equal(best("find reports"), "find_reports");
});

it("a name is not taken for the beginning of a word, and a prefix is taken off", () => {
  const definitions = [
    ["analyze_text", "Analyzes a text"],
    ["assign_task", "Gives a task to a person"],
  ].map(([name, description]) => ({ name, description, input: {}, output: null }));
  const search = openTools(definitions);
  const namesOf = (query: string) => search({ query }).tools.map(({ upstreamName }) => upstreamName);
  assert.deepEqual(namesOf("what is there about Ana"), []);
  assert.deepEqual(namesOf("what is there about ana"), ["analyze_text"]);
  assert.deepEqual(namesOf("reassign"), ["assign_task"]);
});

describe("the servers of the tools", () => {
  const open = (name: string, tools: Readonly<Record<string, string>>) => {
    const definitions = Object.entries(tools).map(([tool, description]) => ({
      name: tool,
      description,
      input: { type: "object" },
    }));
    const connector = parseConnectorId(name) ?? assert.fail();
    return { connector, namespace: name, listing: runAtOnce(parseListing(definitions, (text) => text)) };
  };
  const rank = (servers: readonly ReturnType<typeof open>[], query: string) =>
    createSearch(createSnapshot(servers, 0))({ query, limit: 10 }).tools.map(({ upstreamName }) => upstreamName);

  const SERVERS = [
    open("theater", { plan_seats: "Plans seats near a stage", sell: "Sells" }),
    open("maps", {
      find_station: "Finds charging stations near a place",
      find_place: "Finds places by their names",
      geocode: "Converts a place to coordinates",
    }),
  ];

  it("a tool whose server matches the query comes before a stray match of another server", () => {
    const names = rank(SERVERS, "plan charging stations near a place");
    assert.deepEqual(names, ["find_station", "find_place", "plan_seats", "geocode"]);
  });

  it("the only tool that matches comes first, whatever else its server has", () => {
    assert.equal(rank(SERVERS, "plan seats")[0], "plan_seats");
  });

  it("a server with one tool does not come after one with many tools that match less", () => {
    const names = ["a", "b", "c", "d", "e", "f"].map((one) => `read_${one}`);
    const many = Object.fromEntries(names.map((name) => [name, `Reads the text ${name}`]));
    const servers = [open("files", many), open("video", { get_transcript: "Reads the transcript" })];
    assert.equal(rank(servers, "read the transcript")[0], "get_transcript");
  });
});
