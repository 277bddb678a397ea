/** Finds tools in a snapshot: ranked, tolerant of typos, plurals and other words for the same; empty browses. */

import MiniSearch from "minisearch";

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { CatalogSnapshot, Effect, Tool, ToolAddress } from "../domain/index.ts";
import { parseCursor, toCursor } from "./cursor.ts";
import { relatedTerms, splitTerms } from "./split-terms.ts";

/** What a client asks; everything may be left out. */
export interface SearchRequest {
  readonly query?: string;
  /** The operator's name of a server, or the namespace it became. */
  readonly server?: string;
  readonly effect?: Effect;
  readonly limit?: number;
  readonly cursor?: string;
}

/** One line of the answer: enough to choose, not enough to call. */
export interface FoundTool {
  /** What a program writes. */
  readonly name: ToolAddress;
  readonly summary: string;
  readonly effect: Effect;
  readonly server: string;
  /** The server's own name, shortened and without invisible characters: for people, not for calls. */
  readonly upstreamName: string;
}

/** A cursor is present when there is more. */
export interface SearchResult {
  readonly tools: readonly FoundTool[];
  readonly cursor?: string;
}

/** Searches one snapshot. */
export type Search = (request: SearchRequest) => SearchResult;

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;
const MAX_QUERY_LENGTH = 1000;

/** More words than this make a query slower, not better; the first ones count. */
const MAX_TERMS = 24;
const MAX_SHOWN_NAME = 128;
const RELATED_WEIGHT = 0.4;
const KEPT_SEARCHES = 4;

/** Shorter words are too often the beginning or the neighbor of another. */
const MIN_PREFIX_LENGTH = 3;
const MIN_FUZZY_LENGTH = 4;

const searches = new Map<string, Search>();

/** Cached by digest; the index itself is only built for the first query that has words. */
export function createSearch(snapshot: CatalogSnapshot): Search {
  const known = searches.get(snapshot.digest);
  searches.delete(snapshot.digest);
  const search = known ?? openSearch(snapshot);
  searches.set(snapshot.digest, search);
  const [oldest] = searches.keys();
  if (searches.size > KEPT_SEARCHES && oldest !== undefined) searches.delete(oldest);
  return search;
}

function openSearch(snapshot: CatalogSnapshot): Search {
  let index: MiniSearch<Tool> | undefined;
  return (request) => {
    const { query, limit } = parseRequest(request);
    const filter = { server: request.server ?? null, effect: request.effect ?? null };
    const question = [snapshot.digest, query, filter];
    const offset = request.cursor === undefined ? 0 : parseCursor(request.cursor, question);
    const terms = splitTerms(query).slice(0, MAX_TERMS);
    if (terms.length > 0) index ??= createIndex(snapshot);
    const ranked = index && terms.length > 0 ? rank(index, terms, snapshot) : [...snapshot.tools.values()];
    const matching = ranked.filter((tool) => isWanted(tool, request));
    const tools = matching.slice(offset, offset + limit).map(toFound);
    const next = offset + limit;
    return next < matching.length ? { tools, cursor: toCursor(next, question) } : { tools };
  };
}

function parseRequest({ query = "", limit = DEFAULT_LIMIT }: SearchRequest): { query: string; limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new GloveboxError("REQUEST_INVALID", `The limit of a search is a whole number from 1 to ${MAX_LIMIT}`, {
      hint: "Leave the limit out, or follow the cursor for more",
    });
  }
  if (query.length > MAX_QUERY_LENGTH) {
    throw new GloveboxError("REQUEST_INVALID", `A query has at most ${MAX_QUERY_LENGTH} characters`, {
      hint: "Search with a few words that name the task",
    });
  }
  return { query: query.trim(), limit };
}

function isWanted(tool: Tool, { server, effect }: SearchRequest): boolean {
  const isThere = server === undefined || tool.origin.connector === server || tool.address.startsWith(`${server}.`);
  return isThere && (effect === undefined || tool.effect === effect);
}

function createIndex(snapshot: CatalogSnapshot): MiniSearch<Tool> {
  const index = new MiniSearch<Tool>({
    idField: "address",
    fields: ["name", "summary", "description", "parameters"],
    extractField: (tool, field) => FIELDS.get(field)?.(tool) ?? "",
    tokenize: splitTerms,
    processTerm: (term) => term,
  });
  index.addAll([...snapshot.tools.values()]);
  return index;
}

const FIELDS: ReadonlyMap<string, (tool: Tool) => string> = new Map([
  ["address", (tool) => tool.address],
  ["name", (tool) => `${tool.address} ${tool.origin.remoteName.slice(0, MAX_SHOWN_NAME)}`],
  ["summary", (tool) => tool.summary],
  ["description", (tool) => tool.description],
  ["parameters", (tool) => parameterNames(tool).join(" ")],
]);

/** Bounded, since a schema may have thousands of properties with names as long as a book. */
function parameterNames({ input }: Tool): readonly string[] {
  const properties = input["properties"];
  if (!isJsonObject(properties)) return [];
  return Object.keys(properties)
    .slice(0, 100)
    .map((name) => name.slice(0, 64));
}

function rank(index: MiniSearch<Tool>, terms: readonly string[], snapshot: CatalogSnapshot): Tool[] {
  const own = new Set(terms);
  const related = terms.flatMap((term) => relatedTerms(term)).filter((term) => !own.has(term));
  const isOwn = (term: string): boolean => own.has(term);
  const hits = index.search([...own, ...new Set(related)].join(" "), {
    tokenize: (text) => text.split(" "),
    boost: { name: 8, summary: 3, description: 1.5, parameters: 1 },
    boostTerm: (term) => (isOwn(term) ? 1 : RELATED_WEIGHT),
    prefix: (term) => isOwn(term) && term.length >= MIN_PREFIX_LENGTH,
    fuzzy: (term) => isOwn(term) && term.length >= MIN_FUZZY_LENGTH && 0.2,
  });
  return hits
    .toSorted((a, b) => b.score - a.score || (String(a.id) < String(b.id) ? -1 : 1))
    .map((hit) => snapshot.tools.get(hit.id))
    .filter((tool) => tool !== undefined);
}

function toFound(tool: Tool): FoundTool {
  const { connector, remoteName } = tool.origin;
  const visible = remoteName.slice(0, MAX_SHOWN_NAME).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  return { name: tool.address, summary: tool.summary, effect: tool.effect, server: connector, upstreamName: visible };
}
