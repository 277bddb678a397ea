/** Words of other languages: text in Chinese is found by English queries, and English text by Chinese ones. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import { createSnapshot } from "../create-snapshot.ts";
import { parseListing } from "../parse-listing.ts";
import { createSearch } from "./search.ts";
import { pairsOf, translateText, translateWord } from "./translate.ts";

/** The names have no word of the queries. */
const TOOLS = [
  ["t_one", "查询火车余票，支持中转换乘"],
  ["t_two", "获取菜谱的食材列表"],
  ["t_three", "Plays a song"],
  ["t_four", "根据时间和性别获取八字排盘"],
] as const;

function openSearch() {
  const connector = parseConnectorId("mixed-case") ?? assert.fail();
  const definitions = TOOLS.map(([name, description]) => ({ name, description, input: { type: "object" } }));
  const listing = runAtOnce(parseListing(definitions, (text) => text));
  return createSearch(createSnapshot([{ connector, namespace: "mixedCase", listing }], 0));
}

const search = openSearch();
const best = (query: string): string | undefined => search({ query, limit: 1 }).tools[0]?.upstreamName;

for (const [query, name] of [
  ["train tickets", "t_one"],
  ["ingredients of a recipe", "t_two"],
  ["播放音乐", "t_three"],
  ["火车票", "t_one"],
  ["查八字", "t_four"],
  ["play a song", "t_three"],
] as const)
  test(`"${query}" finds ${name} by the description in another language`, () => assert.equal(best(query), name));

test("an English query without a word of a Chinese description does not find its tool", () => {
  assert.deepEqual(search({ query: "invoice" }).tools, []);
});

test("of overlapping words only the longest is translated", () => {
  assert.deepEqual(translateText("知识库"), ["knowledg"]);
  assert.deepEqual(translateText("当前日期"), ["current", "dat"]);
});

test("text with spaces between its words is not searched for parts of words", () => {
  assert.deepEqual(translateText("la liste des fichiers"), []);
  assert.deepEqual(translateWord("fichiers"), ["fil"]);
});

test("pairs are of characters that follow each other in Chinese text", () => {
  assert.deepEqual(pairsOf("八字排盘, bazi 票"), ["八字", "字排", "排盘"]);
  assert.deepEqual(pairsOf("bazi"), []);
});
