/** Measures the catalog: search quality, search latency, and the cost of a snapshot of thousands of tools. */

import { openCatalog } from "../../src/catalog/index.ts";
import type { Search } from "../../src/catalog/search/search.ts";
import { createSearch } from "../../src/catalog/search/search.ts";
import { parseConnectorId } from "../../src/domain/index.ts";
import type { CatalogSnapshot } from "../../src/domain/index.ts";
import { openStore } from "../../src/store/index.ts";
import { declareApi } from "../../src/typegen/index.ts";
import { ms, print } from "../measure.ts";
import { multiply, readQueries, readServers, toSnapshot } from "./corpus.ts";
import type { Corpus, Judged } from "./corpus.ts";
import { divide, evaluate } from "./evaluate.ts";
import type { Rank } from "./evaluate.ts";
import { rankPlainly } from "./plain-bm25.ts";

export async function benchCatalog(): Promise<void> {
  const [snapshot, queries] = [toSnapshot(readServers()), readQueries()];
  console.log(`\nSearch (${queries.length} queries over ${snapshot.tools.size} tools; R@1, R@5, MRR, nDCG@5)`);
  reportQuality("plain BM25, all queries", queries, rankPlainly(snapshot));
  const rank = rankWith(createSearch(snapshot));
  const { tune, held } = divide(queries);
  reportQuality("search, all queries", queries, rank, "aim: R@5 0.85");
  reportQuality("search, half that was looked at", tune, rank);
  reportQuality("search, half that was not", held, rank);
  for (const kind of new Set(queries.map((one) => one.kind))) {
    reportQuality(
      `search, ${kind} queries`,
      queries.filter((one) => one.kind === kind),
      rank,
    );
  }
  for (const corpus of ["everyday", "model", "second", "second everyday", "fourth", "fourth everyday"] as const) {
    reportCorpus(corpus);
  }
  for (const corpus of ["third", "third everyday"] as const) reportHeldCorpus(corpus);
  for (const count of [snapshot.tools.size, 2500, 5000]) reportTimes(toSnapshot(multiply(count)), queries);
  await reportSnapshot(2500);
}

function reportCorpus(corpus: Corpus): void {
  const [snapshot, queries] = [toSnapshot(readServers(corpus)), readQueries(corpus)];
  const { tune, held } = divide(queries);
  const rank = rankWith(createSearch(snapshot));
  reportQuality(`plain BM25, ${corpus} queries over ${snapshot.tools.size} tools`, queries, rankPlainly(snapshot));
  reportQuality(`search, ${corpus}, half that was looked at`, tune, rank, corpus === "model" ? "" : "aim: R@5 0.95");
  reportQuality(`search, ${corpus}, half that was not`, held, rank);
}

/** Nothing is tuned with these, so all of them count. */
function reportHeldCorpus(corpus: Corpus): void {
  const [snapshot, queries] = [toSnapshot(readServers(corpus)), readQueries(corpus)];
  const rank = rankWith(createSearch(snapshot));
  reportQuality(`plain BM25, ${corpus} queries over ${snapshot.tools.size} tools`, queries, rankPlainly(snapshot));
  reportQuality(`search, ${corpus}, held back`, queries, rank, "aim: R@5 0.85");
}

export function rankWith(search: Search): Rank {
  return (query) => search({ query, limit: 10 }).tools.map(({ server, upstreamName }) => `${server}/${upstreamName}`);
}

function reportQuality(name: string, queries: readonly Judged[], rank: Rank, target = ""): void {
  const { recall1, recall5, reciprocal, gain5 } = evaluate(queries, rank);
  print(name, [recall1, recall5, reciprocal, gain5].map((one) => one.toFixed(2)).join(" "), target);
}

/** The median of three runs per query, so that other processes are not counted. */
function reportTimes(snapshot: CatalogSnapshot, queries: readonly Judged[]): void {
  const search = createSearch({ ...snapshot });
  const built = timeOf(() => search({ query: "first" }));
  const times = queries.map(({ query }) => {
    const runs = [1, 2, 3].map(() => timeOf(() => search({ query })));
    return runs.toSorted((a, b) => a - b)[1] ?? 0;
  });
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const { size } = snapshot.tools;
  if (size >= 1000) print(`index of ${size} tools, built once per snapshot`, ms(built), "aim at 2,500: 300 ms");
  print(`query over ${size} tools: p50 / p95`, `${ms(at(0.5))} / ${ms(at(0.95))}`, "aim at 5,000: p95 10 ms");
}

/** From the lists of all servers to declarations, with every definition pinned. */
async function reportSnapshot(count: number): Promise<void> {
  await using store = await openStore({ path: ":memory:", now: Date.now });
  const connectors = [...multiply(count)].flatMap(([name, tools]) => toConnector(name, tools));
  const pins = { store: store.pins, record: async () => undefined, modeOf: () => "first-use" as const };
  await using catalog = openCatalog({ connectors, now: Date.now, clean: (text) => text, pins });
  const act = async (): Promise<number> => declareApi(await catalog.takeSnapshot()).declarations.length;
  for (const name of ["first", "second"]) {
    const startedAt = performance.now();
    const length = await act();
    print(
      `${name} snapshot and declarations of ${count} tools`,
      ms(performance.now() - startedAt),
      `(${(length / 1024).toFixed(0)} kB)`,
    );
  }
}

type Upstream = Parameters<typeof openCatalog>[0]["connectors"][number];

function toConnector(name: string, tools: readonly unknown[]): readonly Upstream[] {
  const id = parseConnectorId(name);
  if (id === undefined) return [];
  const nothing = async (): Promise<void> => {};
  const upstream: Upstream = {
    id,
    status: () => ({ name: id, state: "ready", transport: "stdio", tools: tools.length, since: 0 }),
    tools: async () => tools as Awaited<ReturnType<Upstream["tools"]>>,
    call: async () => ({ value: null, attachments: [] }),
    onToolsChanged: () => () => undefined,
    close: nothing,
    [Symbol.asyncDispose]: nothing,
  };
  return [upstream];
}

function timeOf(act: () => unknown): number {
  const startedAt = performance.now();
  act();
  return performance.now() - startedAt;
}
