/** Search quality: a ratio over the benchmark's own queries, far below what it reaches, and above the baseline. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createSearch } from "../../src/catalog/search/search.ts";
import { readQueries, readServers, toSnapshot } from "../../bench/search/corpus.ts";
import { divide, evaluate } from "../../bench/search/evaluate.ts";
import { nameOf, rankPlainly } from "../../bench/search/plain-bm25.ts";
import type { Rank } from "../../bench/search/evaluate.ts";
import { rankWith } from "../../bench/search/report.ts";

const snapshot = toSnapshot(readServers());
const queries = readQueries();

describe("the search benchmark", () => {
  it("the everyday benchmark has at least 120 queries, and all benchmarks name existing tools", () => {
    assert.ok(readQueries("everyday").length >= 120);
    for (const corpus of ["model", "everyday", "third", "fourth", "third everyday", "fourth everyday"] as const) {
      const names = new Set([...toSnapshot(readServers(corpus)).tools.values()].map(nameOf));
      const right = readQueries(corpus).flatMap((one) => [...one.right]);
      assert.deepEqual(
        right.filter((name) => !names.has(name)),
        [],
      );
    }
  });
  it("the search benchmark has at least 300 tools of 20 servers and 200 queries, half of them long, with existing tools", () => {
    const names = new Set([...snapshot.tools.values()].map(nameOf));
    assert.ok(names.size >= 300 && snapshot.namespaces.length >= 20 && queries.length >= 200);
    const long = queries.filter(({ kind }) => kind === "long").length / queries.length;
    assert.ok(long > 0.45 && long < 0.55);
    assert.deepEqual(
      queries.flatMap(({ right }) => [...right]).filter((name) => !names.has(name)),
      [],
    );
  });
});

describe("search quality", () => {
  const rank = rankWith(createSearch(snapshot));
  const { tune, held } = divide(queries);

  it("search has a right tool among the first five for nine of ten queries, in both halves", () => {
    for (const half of [tune, held]) assert.ok(evaluate(half, rank).recall5 >= 0.9);
  });
  it("search has a right tool among the first five for 19 of 20 everyday queries, in both halves", () => {
    const everyday = createSearch(toSnapshot(readServers("everyday")));
    const halves = divide(readQueries("everyday"));
    for (const half of [halves.tune, halves.held]) assert.ok(evaluate(half, rankWith(everyday)).recall5 >= 0.95);
  });
  it("search has a right tool among the first five for 17 of 20 requests of models", () => {
    assert.ok(evaluate(readQueries("model"), rank).recall5 >= 0.85);
  });
  it("search has a right tool among the first five for 17 of 20 queries that nothing is tuned with", () => {
    const everyday = rankWith(createSearch(toSnapshot(readServers("everyday"))));
    assert.ok(evaluate(readQueries("third"), rank).recall5 >= 0.85);
    assert.ok(evaluate(readQueries("third everyday"), everyday).recall5 >= 0.85);
    assert.ok(evaluate(divide(readQueries("fourth")).held, rank).recall5 >= 0.9);
    assert.ok(evaluate(divide(readQueries("fourth everyday")).held, everyday).recall5 >= 0.9);
  });
  it("search loses nearly nothing by leaving out what is less relevant", () => {
    // Three of 75 requests of models find their tool only with a limit or a cursor.
    for (const [corpus, most] of [
      ["mixed", 0.03],
      ["model", 0.05],
      ["everyday", 0.03],
    ] as const) {
      const search = createSearch(toSnapshot(readServers(corpus)));
      const short: Rank = (query) =>
        search({ query }).tools.map(({ server, upstreamName }) => `${server}/${upstreamName}`);
      const [cut, whole] = [short, rankWith(search)].map((one) => evaluate(readQueries(corpus), one).recall5);
      assert.ok(cut !== undefined && whole !== undefined && cut > whole - most, `${corpus}: ${cut} of ${whole}`);
    }
  });
  for (const [query, name] of [
    ["save a file", "filesystem.writeFile"],
    ["what do you know about Ada", "memory.searchNodes"],
    ["weather in Chicago", "everything.getStructuredContent"],
    ["add two numbers", "everything.getSum"],
    ["image logo", "everything.getTinyImage"],
    ["take a screenshot", "browser.browserTakeScreenshot"],
  ] as const)
    it(`"${query}" finds ${name} first`, () => {
      assert.equal(createSearch(toSnapshot(readServers("everyday")))({ query }).tools[0]?.name, name);
    });
  it("search prefers the server that a query names, and no server if it names none", () => {
    const best = (query: string): string | undefined => createSearch(snapshot)({ query, limit: 1 }).tools[0]?.name;
    assert.equal(best("close an issue on github"), "github.updateIssue");
    assert.equal(best("send message in slack"), "slack.slackPostMessage");
    assert.equal(best("send message in sqs"), "aws.sqsSendMessage");
    assert.equal(best("resolve an issue"), "sentry.resolveIssue");
  });
  it("search is better than plain BM25", () => {
    const [plain, own] = [rankPlainly(snapshot), rank].map((one) => evaluate(queries, one));
    assert.ok(plain && own && own.recall5 > plain.recall5 + 0.1 && own.recall1 > plain.recall1);
  });
});
