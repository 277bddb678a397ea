/** Searches the tools of a snapshot: ranked, tolerant of typos, plurals and synonyms. An empty query lists all tools. */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { CatalogSnapshot, Effect, Json, Tool, ToolAddress } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import { createRecent } from "../../timing/index.ts";
import { findNearestName } from "./find-nearest.ts";
import { rankTools } from "./rank-tools.ts";
import { createSearchIndex } from "./search-index.ts";
import type { SearchIndex } from "./search-index.ts";

export interface SearchRequest {
  readonly query?: string;
  /** The name of a server in the configuration, or its namespace. */
  readonly server?: string;
  readonly effect?: Effect;
  readonly limit?: number;
  readonly cursor?: string;
}

/** One result: enough to choose a tool, not enough to call it. */
export interface FoundTool extends Pick<Tool, "summary" | "effect" | "effectSource" | "labels"> {
  readonly name: ToolAddress;
  readonly server: string;
  /** The server's name for the tool, shortened and without invisible characters: for people, not for calls. */
  readonly upstreamName: string;
}

export interface SearchResult {
  readonly tools: readonly FoundTool[];
  readonly cursor?: string;
}

export type Search = (request: SearchRequest) => SearchResult;

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;
const MAX_QUERY_LENGTH = 1000;

const MAX_SHOWN_NAME = 128;
const SHOWN_SERVERS = 20;
const KEPT_SEARCHES = 4;
const FINGERPRINT = ["sha256:".length, "sha256:".length + 16] as const;

const searches = createRecent<string, Search>(KEPT_SEARCHES);

/** Cached by digest. The index is built at the first query with words. */
export function createSearch(snapshot: CatalogSnapshot): Search {
  return searches.getOr(snapshot.digest, () => openSearch(snapshot));
}

function openSearch(snapshot: CatalogSnapshot): Search {
  let index: SearchIndex | undefined;
  return (request) => {
    const { query, limit } = parseRequest(request);
    checkServer(snapshot, request.server);
    const filter = { server: request.server ?? null, effect: request.effect ?? null };
    const search = [snapshot.digest, query, filter];
    const offset = request.cursor === undefined ? 0 : parseCursor(request.cursor, search);
    if (query !== "") index ??= createSearchIndex([...snapshot.tools.values()]);
    const ranked = index && query !== "" ? rankTools(index, query) : [...snapshot.tools.values()];
    const matching = ranked.filter((tool) => isWanted(tool, request));
    const next = offset + limit;
    const cursor = next < matching.length ? toCursor(next, search) : undefined;
    return defined({ tools: matching.slice(offset, next).map(toFound), cursor });
  };
}

function parseRequest({ query = "", limit = DEFAULT_LIMIT }: SearchRequest): { query: string; limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new GloveboxError("REQUEST_INVALID", `limit must be an integer from 1 to ${MAX_LIMIT}, not ${limit}`, {
      hint: "Omit limit, and pass the cursor for more results",
    });
  }
  if (query.length > MAX_QUERY_LENGTH) {
    throw new GloveboxError("REQUEST_INVALID", `query must have at most ${MAX_QUERY_LENGTH} characters`, {
      hint: "Search with a few words that describe the task",
    });
  }
  return { query: query.trim(), limit };
}

function toCursor(offset: number, search: Json): string {
  return Buffer.from(`${offset}.${digestOf(search).slice(...FINGERPRINT)}`).toString("base64url");
}

/** Returns the offset of a cursor. Encoded again and compared, so that only cursors of this search are accepted. */
function parseCursor(raw: string, search: Json): number {
  const text = Buffer.from(raw.slice(0, 64), "base64url").toString("latin1");
  const offset = Number(/^\d{1,9}(?=\.)/.exec(text)?.[0] ?? 0);
  if (raw === toCursor(offset, search)) return offset;
  throw new GloveboxError("REQUEST_INVALID", "The cursor belongs to another search, or the tools have changed", {
    hint: "Search again without a cursor",
  });
}

/** Refuses an unknown server, because an empty result would read as "this server has no such tool". */
function checkServer({ namespaces }: CatalogSnapshot, server: string | undefined): void {
  if (server === undefined || namespaces.some(({ name, connector }) => name === server || connector === server)) return;
  const names = [...new Set(namespaces.flatMap(({ name, connector }) => [name, connector]))];
  const nearest = findNearestName(server, names);
  const all = namespaces.map(({ name }) => name);
  const shown = all.length > SHOWN_SERVERS ? [...all.slice(0, SHOWN_SERVERS), "…"] : all;
  throw new GloveboxError("REQUEST_NOT_FOUND", `Unknown server ${JSON.stringify(server.slice(0, MAX_SHOWN_NAME))}`, {
    hint: `${nearest === undefined ? "" : `Did you mean ${nearest}? `}Servers: ${shown.join(", ") || "none"}`,
  });
}

function isWanted(tool: Tool, { server, effect }: SearchRequest): boolean {
  const isThere = server === undefined || tool.origin.connector === server || tool.address.startsWith(`${server}.`);
  return isThere && (effect === undefined || tool.effect === effect);
}

function toFound(tool: Tool): FoundTool {
  const { connector, remoteName } = tool.origin;
  const visible = remoteName.slice(0, MAX_SHOWN_NAME).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  const { address: name, summary, effect, effectSource, labels } = tool;
  return defined({ name, summary, effect, effectSource, labels, server: connector, upstreamName: visible });
}
