/** Searches the tools of a snapshot: ranked, tolerant of typos, plurals and synonyms. An empty query lists all tools. */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { CatalogSnapshot, Effect, Json, Tool, ToolAddress } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import { createRecent, runAtOnce } from "../../timing/index.ts";
import type { SlicedWork } from "../../timing/index.ts";
import { findNearestName } from "./find-nearest.ts";
import { putDeprecatedLast, rankTools } from "./rank-tools.ts";
import type { RankedTool } from "./rank-tools.ts";
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

/** One result: enough to choose a tool, and to call it if it has a signature. */
export interface FoundTool extends Pick<Tool, "summary" | "effect" | "effectSource" | "labels"> {
  readonly name: ToolAddress;
  readonly server: string;
  /** The server's name for the tool, shortened and without invisible characters: for people, not for calls. */
  readonly upstreamName: string;
  /** The call on one line, with the types of its arguments and of its result. Only the best few have it. */
  readonly signature?: string;
}

export interface SearchResult {
  readonly tools: readonly FoundTool[];
  readonly cursor?: string;
}

/** What the caller adds to the tools that are found. */
export interface SearchOptions {
  /** Returns the signature of a tool, or nothing if it is too long to be useful. */
  readonly sign?: (tool: Tool) => string | undefined;
  /** Removes known secrets from text of servers. */
  readonly hide?: (text: string) => string;
  /** The most characters of the tools as JSON, which is never less than their text. The first tool always fits. */
  readonly maxCharacters?: number;
}

export interface Search {
  (request: SearchRequest, options?: SearchOptions): SearchResult;
  /**
   * Builds the index of the words with pauses, if the request needs one; otherwise the search builds it at once.
   * Searches that prepare at the same time build one index together.
   */
  prepare(request: SearchRequest): SlicedWork<void>;
}

/** The most tools of a page if the request has no `limit`; then less relevant ones are left for the next page. */
const DEFAULT_LIMIT = 5;
const BROWSE_LIMIT = 10;
/** Compared with the score of the best tool. */
const RELEVANT = 0.4;
/** Tools below are no longer listed at all. */
const LISTED = 0.1;
/** The most signatures of a page and their characters after the first; less relevant tools have none. */
const SIGNED = 5;
const SIGNED_CHARACTERS = 300;
const SIGNED_FROM = 0.7;
const MAX_LIMIT = 50;
const MAX_QUERY_LENGTH = 1000;

const MAX_SHOWN_NAME = 128;
const SHOWN_SERVERS = 20;
const KEPT_SEARCHES = 4;
const FINGERPRINT = ["sha256:".length, "sha256:".length + 8] as const;

const searches = createRecent<string, Search>(KEPT_SEARCHES);

/** Cached by digest. The index is built at the first query with words. */
export function createSearch(snapshot: CatalogSnapshot): Search {
  return searches.getOr(snapshot.digest, () => openSearch(snapshot));
}

function openSearch(snapshot: CatalogSnapshot): Search {
  let index: SearchIndex | undefined;
  let building: SlicedWork<SearchIndex> | undefined;
  const all = [...snapshot.tools.values()];
  const find = (request: SearchRequest, options: SearchOptions = {}): SearchResult => {
    const { query, limit } = parseRequest(request);
    checkServer(snapshot, request.server);
    const filter = { server: request.server ?? null, effect: request.effect ?? null };
    const search = [snapshot.digest, query, filter];
    const offset = request.cursor === undefined ? 0 : parseCursor(request.cursor, search);
    if (query !== "") index ??= runAtOnce(createSearchIndex(all));
    const listed = index && query !== "" ? rankWanted(index, query, request) : browse(all, request);
    const most = query === "" ? BROWSE_LIMIT : DEFAULT_LIMIT;
    const usual = offset === 0 ? countRelevant(listed.slice(0, most)) : most;
    const end = offset + (limit ?? usual);
    const page = listed.slice(offset, end);
    const tools = fillPage(page, query === "" ? { ...options, sign: () => undefined } : options);
    const next = offset + tools.length;
    return defined({ tools, cursor: next < listed.length ? toCursor(next, search) : undefined });
  };
  function* prepare(request: SearchRequest): SlicedWork<void> {
    if (parseRequest(request).query === "") return;
    while (!index) {
      building ??= createSearchIndex(all);
      const next = building.next();
      if (next.done === true) index = next.value;
      else yield;
    }
    building = undefined;
  }
  return Object.assign(find, { prepare });
}

function browse(all: readonly Tool[], request: SearchRequest): readonly RankedTool[] {
  return putDeprecatedLast(all.filter((tool) => isWanted(tool, request)).map((tool) => ({ tool, score: 1 })));
}

/** The best of the wanted tools has the score 1: with a filter, those of other servers do not count. */
function rankWanted(index: SearchIndex, query: string, request: SearchRequest): readonly RankedTool[] {
  const wanted = rankTools(index, query).filter(({ tool }) => isWanted(tool, request));
  const best = wanted.reduce((most, { score }) => Math.max(most, score), 0);
  return wanted.map(({ tool, score }) => ({ tool, score: score / best })).filter(({ score }) => score >= LISTED);
}

function countRelevant(page: readonly RankedTool[]): number {
  const first = page.findIndex(({ score }) => score < RELEVANT);
  return first < 0 ? page.length : Math.max(1, first);
}

/** Takes tools in order while they fit, the most relevant ones with their signatures. */
function fillPage(
  page: readonly RankedTool[],
  { sign, hide = (text) => text, maxCharacters = Infinity }: SearchOptions,
) {
  const tools: FoundTool[] = [];
  let [left, unsigned] = [maxCharacters, SIGNED_CHARACTERS];
  for (const [at, { tool, score }] of page.entries()) {
    const bare = toFound(tool, hide);
    const signature = at < SIGNED && score >= SIGNED_FROM ? sign?.(tool) : undefined;
    const isShown = signature !== undefined && (at === 0 || signature.length <= unsigned);
    const signed = isShown ? { ...bare, signature: hide(signature) } : bare;
    const found = [signed, bare].find((one) => costOf(one) <= left) ?? (at === 0 ? bare : undefined);
    if (!found) break;
    left -= costOf(found);
    if (at > 0) unsigned -= found.signature?.length ?? 0;
    tools.push(found);
  }
  return tools;
}

const costOf = (found: FoundTool): number => JSON.stringify(found).length + ",".length;

function parseRequest({ query = "", limit }: SearchRequest): { query: string; limit: number | undefined } {
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)) {
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

function toFound(tool: Tool, hide: (text: string) => string): FoundTool {
  const { connector, remoteName } = tool.origin;
  const visible = remoteName.slice(0, MAX_SHOWN_NAME).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  const { address: name, effect, effectSource, labels } = tool;
  const summary = hide(tool.summary);
  return defined({ name, summary, effect, effectSource, labels, server: connector, upstreamName: visible });
}
