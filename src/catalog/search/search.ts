/** Finds tools in a snapshot: ranked, tolerant of typos, plurals and other words for the same; empty browses. */

import { GloveboxError } from "../../domain/index.ts";
import type { CatalogSnapshot, Effect, Label, Tool, ToolAddress } from "../../domain/index.ts";
import { parseCursor, toCursor } from "./cursor.ts";
import { findNearestName } from "./find-nearest.ts";
import { rankTools } from "./rank-tools.ts";
import { createSearchIndex } from "./search-index.ts";
import type { SearchIndex } from "./search-index.ts";

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
  /** Present when the effect is a guess from the name, or the operator's word. */
  readonly effectSource?: NonNullable<Tool["effectSource"]>;
  /** Left out when there are none. */
  readonly labels?: readonly Label[];
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

const MAX_SHOWN_NAME = 128;
const SHOWN_SERVERS = 20;
const KEPT_SEARCHES = 4;

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
  let index: SearchIndex | undefined;
  return (request) => {
    const { query, limit } = parseRequest(request);
    checkServer(snapshot, request.server);
    const filter = { server: request.server ?? null, effect: request.effect ?? null };
    const question = [snapshot.digest, query, filter];
    const offset = request.cursor === undefined ? 0 : parseCursor(request.cursor, question);
    if (query !== "") index ??= createSearchIndex([...snapshot.tools.values()]);
    const ranked = index && query !== "" ? rankTools(index, query) : [...snapshot.tools.values()];
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

/** An empty answer would read as "this server has no such tool". */
function checkServer({ namespaces }: CatalogSnapshot, server: string | undefined): void {
  if (server === undefined || namespaces.some(({ name, connector }) => name === server || connector === server)) return;
  const names = [...new Set(namespaces.flatMap(({ name, connector }) => [name, connector]))];
  const nearest = findNearestName(server, names);
  const all = namespaces.map(({ name }) => name);
  const shown = all.length > SHOWN_SERVERS ? [...all.slice(0, SHOWN_SERVERS), "…"] : all;
  throw new GloveboxError(
    "REQUEST_NOT_FOUND",
    `There is no server ${JSON.stringify(server.slice(0, MAX_SHOWN_NAME))}`,
    {
      hint: `${nearest === undefined ? "" : `Did you mean ${nearest}? `}The servers are: ${shown.join(", ") || "none"}`,
    },
  );
}

function isWanted(tool: Tool, { server, effect }: SearchRequest): boolean {
  const isThere = server === undefined || tool.origin.connector === server || tool.address.startsWith(`${server}.`);
  return isThere && (effect === undefined || tool.effect === effect);
}

function toFound(tool: Tool): FoundTool {
  const { connector, remoteName } = tool.origin;
  const visible = remoteName.slice(0, MAX_SHOWN_NAME).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  const { address: name, summary, effect, effectSource, labels } = tool;
  return {
    name,
    summary,
    effect,
    ...(effectSource && { effectSource }),
    ...(labels && { labels }),
    server: connector,
    upstreamName: visible,
  };
}
