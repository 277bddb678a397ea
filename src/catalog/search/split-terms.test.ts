/** Words and stems: names in any case are one word, and words that only look alike keep different stems. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { splitWords, stem } from "./split-terms.ts";

test("a name with capital letters inside is one word, in English and in Chinese text", () => {
  assert.deepEqual(splitWords("papers on arXiv and GitHub"), ["papers", "on", "arxiv", "and", "github"]);
  assert.deepEqual(splitWords("获取 YouTube 视频"), ["获取", "youtube", "视频"]);
});

test("other words are split at their capital letters", () => {
  assert.deepEqual(splitWords("getUserById githubRepo"), ["get", "user", "by", "id", "github", "repo"]);
});

for (const [word, other] of [
  ["news", "new"],
  ["information", "inform"],
  ["station", "stats"],
  ["statement", "state"],
] as const)
  test(`"${word}" and "${other}" have different stems`, () => assert.notEqual(stem(word), stem(other)));

for (const [word, other] of [
  ["stations", "station"],
  ["information", "info"],
  ["deletes", "deletion"],
] as const)
  test(`"${word}" and "${other}" have the same stem`, () => assert.equal(stem(word), stem(other)));
