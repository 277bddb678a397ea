/** Search quality: a ratio over the benchmark's own queries, far below what it reaches, and above the baseline. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createSearch } from "../../src/catalog/search/search.ts";
import { readQueries, readServers, toSnapshot } from "../../bench/search/corpus.ts";
import { divide, evaluate } from "../../bench/search/evaluate.ts";
import { nameOf, rankPlainly } from "../../bench/search/plain-bm25.ts";
import { rankWith } from "../../bench/search/report.ts";

const snapshot = toSnapshot(readServers());
const queries = readQueries();

describe("the search benchmark", () => {
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
