/** A BM25F index over the tools of one snapshot. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonSchema, Tool } from "../../domain/index.ts";
import type { SlicedWork } from "../../timing/index.ts";
import { KNOWN_SERVERS } from "./known-servers.ts";
import { splitTerms } from "./split-terms.ts";
import { pairsOf, translateText } from "./translate.ts";
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
const MAX_VALUES = 50;
const MAX_NESTING = 2;
const MAX_REF_STEPS = 4;
const MAX_NAME_LENGTH = 128;
const MAX_TEXT_LENGTH = 400;
/** Later text rarely describes the purpose of a tool. */
const MAX_DESCRIPTION_LENGTH = 1000;
/** Saturation of repeated words (k1 of BM25). */
const SATURATION = 1.15;

const FIELDS: readonly SearchField[] = [
  { weight: 4, thinning: 0.3, terms: nameTerms },
  { weight: 1.5, thinning: 0.3, terms: serverTerms },
  { weight: 0.4, thinning: 0.3, terms: subjectTerms },
  { weight: 1.6, thinning: 0.5, terms: (tool) => textTerms(tool.summary) },
  { weight: 0.8, thinning: 0.7, terms: (tool) => textTerms(tool.description.slice(0, MAX_DESCRIPTION_LENGTH)) },
  { weight: 0.7, thinning: 0.6, terms: (tool) => parametersOf(tool).flatMap(({ name }) => splitTerms(name)) },
  { weight: 0.4, thinning: 0.7, terms: (tool) => parametersOf(tool).flatMap(({ about }) => splitTerms(about)) },
  {
    weight: 0.8,
    thinning: 0.5,
    terms: (tool) => parametersOf(tool).flatMap(({ values }) => values.flatMap(splitTerms)),
  },
  // Not thinned by length: only descriptions in Chinese have pairs.
  { weight: 0.8, thinning: 0, terms: (tool) => pairsOf(tool.description.slice(0, MAX_DESCRIPTION_LENGTH)) },
  // A question is often about what a tool returns: "humidity in Chicago".
  { weight: 0.4, thinning: 0.7, terms: (tool) => fieldsOf(tool).flatMap(({ name }) => splitTerms(name)) },
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
  /** The number of tools of each connector. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The inverse document frequency; largest for a word that no tool contains. */
  rarityOf(term: string): number;
}

/** Tools and words that take at most a few milliseconds. */
const PIECE_TOOLS = 8;
const PIECE_TERMS = 500;

/** For each word, its weighted and length-normalized count in each tool. */
type Sums = Map<string, Map<number, number>>;

export function* createSearchIndex(tools: readonly Tool[]): SlicedWork<SearchIndex> {
  const sums: Sums = new Map();
  for (const field of FIELDS) yield* addField(sums, field, tools);
  const rarity = (count: number): number => Math.log(1 + (tools.length - count + 0.5) / (count + 0.5));
  const postings = new Map<string, Postings>();
  for (const [term, sum] of sums) {
    postings.set(term, toPostings(sum, rarity(sum.size)));
    if (postings.size % PIECE_TERMS === 0) yield;
  }
  const rarityOf = (term: string): number => rarity(postings.get(term)?.tools.length ?? 0);
  const names: (readonly string[])[] = [];
  const servers: (readonly string[])[] = [];
  const sizes = new Map<string, number>();
  for (const tool of tools) {
    if (names.length % PIECE_TOOLS === PIECE_TOOLS - 1) yield;
    names.push(ownNameTerms(tool));
    servers.push(serverTerms(tool));
    sizes.set(tool.origin.connector, (sizes.get(tool.origin.connector) ?? 0) + 1);
  }
  yield;
  const vocabulary = createVocabulary(postings.keys(), new Set([...names, ...servers].flat()));
  return { tools, postings, vocabulary, names, servers, sizes, rarityOf };
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

function* addField(sums: Sums, { weight, thinning, terms }: SearchField, tools: readonly Tool[]): SlicedWork<void> {
  const all: (readonly string[])[] = [];
  for (const tool of tools) {
    if (all.length % PIECE_TOOLS === PIECE_TOOLS - 1) yield;
    all.push(terms(tool));
  }
  const average = Math.max(1, all.reduce((sum, own) => sum + own.length, 0) / Math.max(1, tools.length));
  for (const [place, own] of all.entries()) {
    if (place % PIECE_TOOLS === PIECE_TOOLS - 1) yield;
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

/** The words, and for a text in Chinese also the English words for it. */
function textTerms(text: string): readonly string[] {
  const translated = translateText(text);
  return translated.length > 0 ? [...splitTerms(text), ...translated] : splitTerms(text);
}

function serverTerms({ origin }: Pick<Tool, "origin">): readonly string[] {
  return splitTerms(origin.connector.slice(0, MAX_NAME_LENGTH));
}

/** What a well-known service is for: its tools seldom repeat it. */
function subjectTerms(tool: Tool): readonly string[] {
  subjects ??= new Map(
    KNOWN_SERVERS.flatMap((line) => {
      const [names = [], subject = []] = line.split(": ").map(splitTerms);
      return names.map((name) => [name, subject] as const);
    }),
  );
  const known = subjects;
  return [...new Set(serverTerms(tool).flatMap((term) => known.get(term) ?? []))];
}
let subjects: ReadonlyMap<string, readonly string[]> | undefined;

/** `slack_post_message` of the server slack has the name words `post` and `message`. */
function ownNameTerms({ origin }: Tool): readonly string[] {
  const server = new Set(serverTerms({ origin }));
  const terms = [...new Set(splitTerms(origin.remoteName.slice(0, MAX_NAME_LENGTH)))];
  const own = terms.filter((term) => !server.has(term));
  return own.length > 0 ? own : terms;
}

interface IndexedParameter {
  readonly name: string;
  readonly about: string;
  /** What it may be, if the schema lists that: a query often contains one of the values. */
  readonly values: readonly string[];
}

function parametersOf({ input }: Tool): readonly IndexedParameter[] {
  return readParameters(input, input, MAX_NESTING).slice(0, MAX_PARAMETERS);
}

/** The fields of the result, if the server declares it. */
function fieldsOf({ output }: Tool): readonly IndexedParameter[] {
  return output ? readParameters(output, output, MAX_NESTING).slice(0, MAX_PARAMETERS) : [];
}

/** Those of an object, and of the objects in it, such as the fields of the entries of an array. */
function readParameters(schema: JsonSchema, whole: JsonSchema, levels: number): readonly IndexedParameter[] {
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties)
    .slice(0, MAX_PARAMETERS)
    .flatMap(([name, written]) => {
      const own = isJsonObject(written) ? resolveRef(written, whole) : written;
      if (!isJsonObject(own)) return [{ name: name.slice(0, MAX_NAME_LENGTH), about: "", values: [] }];
      const { description, items } = own;
      const about = typeof description === "string" ? description.slice(0, MAX_TEXT_LENGTH) : "";
      const part = isJsonObject(items) ? resolveRef(items, whole) : own;
      const values = [...valuesOf(own), ...(part === own ? [] : valuesOf(part))];
      const inner = levels > 0 ? readParameters(part, whole, levels - 1) : [];
      return [{ name: name.slice(0, MAX_NAME_LENGTH), about, values }, ...inner];
    });
}

/** A definition of the same schema, as bodies of OpenAPI documents are. References of references are not followed. */
function resolveRef(schema: JsonSchema, whole: JsonSchema): JsonSchema {
  const ref = schema["$ref"];
  if (typeof ref !== "string" || !ref.startsWith("#/")) return schema;
  let found: Json | undefined = whole;
  for (const key of ref.slice(2).split("/", MAX_REF_STEPS)) {
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isJsonObject(found) ? found : schema;
}

function valuesOf(schema: JsonSchema): readonly string[] {
  const listed = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"] ?? null];
  const texts = listed.slice(0, MAX_VALUES).filter((value) => typeof value === "string");
  return texts.map((value) => value.slice(0, MAX_NAME_LENGTH));
}
