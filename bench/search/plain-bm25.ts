/** The baseline: plain BM25 over all text of a tool, with lower-case words and without stems, synonyms or fields. */

import type { CatalogSnapshot, Tool } from "../../src/domain/index.ts";
import type { Rank } from "./evaluate.ts";

const [K1, B] = [1.2, 0.75];

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

export function rankPlainly(snapshot: CatalogSnapshot): Rank {
  const tools = [...snapshot.tools.values()];
  const texts = tools.map((tool) => wordsOf(`${nameOf(tool)} ${tool.description} ${JSON.stringify(tool.input)}`));
  const average = texts.reduce((sum, own) => sum + own.length, 0) / texts.length;
  const counts = texts.map((own) => Map.groupBy(own, (word) => word));
  const spread = Map.groupBy(
    counts.flatMap((own) => [...own.keys()]),
    (word) => word,
  );
  const weigh = (word: string, at: number): number => {
    const count = counts[at]?.get(word)?.length ?? 0;
    const having = spread.get(word)?.length ?? 0;
    const length = (texts[at]?.length ?? 0) / average;
    return (
      (Math.log(1 + (tools.length - having + 0.5) / (having + 0.5)) * count * (K1 + 1)) /
      (count + K1 * (1 - B + B * length))
    );
  };
  return (query) => {
    const words = wordsOf(query);
    const scored = tools.map((tool, at) => ({ tool, score: words.reduce((sum, word) => sum + weigh(word, at), 0) }));
    const found = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
    return found.slice(0, 10).map(({ tool }) => nameOf(tool));
  };
}

export function nameOf({ origin }: Tool): string {
  return `${origin.connector}/${origin.remoteName}`;
}
