/** A BM25F index over the tools of one snapshot. */

import { isJsonObject } from "../../domain/index.ts";
import type { Tool } from "../../domain/index.ts";
import { splitTerms } from "./split-terms.ts";
import { createVocabulary } from "./vocabulary.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** `weight` of a word in the field; `thinning` is the length normalization (b of BM25). */
interface SearchField {
  readonly weight: number;
  readonly thinning: number;
  readonly terms: (tool: Tool) => readonly string[];
}

/** Bounds for hostile schemas with thousands of properties and very long names. */
const MAX_PARAMETERS = 100;
const MAX_NAME_LENGTH = 128;
const MAX_TEXT_LENGTH = 400;
/** Later text rarely describes the purpose of a tool. */
const MAX_DESCRIPTION_LENGTH = 1000;
/** Saturation of repeated words (k1 of BM25). */
const SATURATION = 1.5;

const FIELDS: readonly SearchField[] = [
  { weight: 4, thinning: 0.3, terms: nameTerms },
  { weight: 1.5, thinning: 0.3, terms: serverTerms },
  { weight: 1.6, thinning: 0.5, terms: (tool) => splitTerms(tool.summary) },
  { weight: 0.8, thinning: 0.7, terms: (tool) => splitTerms(tool.description.slice(0, MAX_DESCRIPTION_LENGTH)) },
  { weight: 0.7, thinning: 0.6, terms: (tool) => parametersOf(tool).flatMap(([name]) => splitTerms(name)) },
  { weight: 0.4, thinning: 0.7, terms: (tool) => parametersOf(tool).flatMap(([, about]) => splitTerms(about)) },
];

/** The tools that contain a word, with its weight in each, saturated and multiplied by its rarity. */
export interface Postings {
  readonly tools: Uint32Array;
  readonly weights: Float32Array;
}

export interface SearchIndex {
  readonly tools: readonly Tool[];
  readonly postings: ReadonlyMap<string, Postings>;
  readonly vocabulary: Vocabulary;
  /** The words of each tool's name, without its server's. */
  readonly names: readonly (readonly string[])[];
  readonly servers: readonly (readonly string[])[];
  /** The inverse document frequency; largest for a word that no tool contains. */
  rarityOf(term: string): number;
}

/** For each word, its weighted and length-normalized count in each tool. */
type Sums = Map<string, Map<number, number>>;

export function createSearchIndex(tools: readonly Tool[]): SearchIndex {
  const sums: Sums = new Map();
  for (const field of FIELDS) addField(sums, field, tools);
  const rarity = (count: number): number => Math.log(1 + (tools.length - count + 0.5) / (count + 0.5));
  const postings = new Map<string, Postings>();
  for (const [term, sum] of sums) postings.set(term, toPostings(sum, rarity(sum.size)));
  const rarityOf = (term: string): number => rarity(postings.get(term)?.tools.length ?? 0);
  const vocabulary = createVocabulary(postings.keys());
  return { tools, postings, vocabulary, names: tools.map(ownNameTerms), servers: tools.map(serverTerms), rarityOf };
}

function toPostings(sum: ReadonlyMap<number, number>, rarity: number): Postings {
  const [tools, weights] = [new Uint32Array(sum.size), new Float32Array(sum.size)];
  let at = 0;
  for (const [place, weight] of sum) {
    tools[at] = place;
    weights[at] = (rarity * weight) / (SATURATION + weight);
    at += 1;
  }
  return { tools, weights };
}

function addField(sums: Sums, { weight, thinning, terms }: SearchField, tools: readonly Tool[]): void {
  const all = tools.map(terms);
  const average = Math.max(1, all.reduce((sum, own) => sum + own.length, 0) / Math.max(1, tools.length));
  for (const [place, own] of all.entries()) {
    const thinned = weight / (1 - thinning + (thinning * own.length) / average);
    for (const term of own) {
      let sum = sums.get(term);
      if (!sum) sums.set(term, (sum = new Map()));
      sum.set(place, (sum.get(place) ?? 0) + thinned);
    }
  }
}

/** The words, and adjacent ones joined: `web_hook` is also found as `webhook`. */
function nameTerms(tool: Tool): readonly string[] {
  const terms = [...new Set(splitTerms(tool.origin.remoteName.slice(0, MAX_NAME_LENGTH)))];
  return [...terms, ...terms.slice(1).map((term, at) => `${terms[at]}${term}`)];
}

function serverTerms({ origin }: Pick<Tool, "origin">): readonly string[] {
  return splitTerms(origin.connector.slice(0, MAX_NAME_LENGTH));
}

/** `slack_post_message` of the server slack has the name words `post` and `message`. */
function ownNameTerms({ origin }: Tool): readonly string[] {
  const server = new Set(serverTerms({ origin }));
  const terms = [...new Set(splitTerms(origin.remoteName.slice(0, MAX_NAME_LENGTH)))];
  const own = terms.filter((term) => !server.has(term));
  return own.length > 0 ? own : terms;
}

function parametersOf({ input }: Tool): readonly (readonly [name: string, about: string])[] {
  const properties = input["properties"];
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties)
    .slice(0, MAX_PARAMETERS)
    .map(([name, schema]) => {
      const about = isJsonObject(schema) ? schema["description"] : "";
      return [name.slice(0, MAX_NAME_LENGTH), typeof about === "string" ? about.slice(0, MAX_TEXT_LENGTH) : ""];
    });
}
