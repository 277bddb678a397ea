/** The answer of `search` for a model: tools first, then what it must know about servers, within a number of tokens. */

import type { CallToolResult } from "@modelcontextprotocol/server";

import { defined } from "../domain/index.ts";
import type { UpstreamStatus } from "../domain/index.ts";
import type { Gateway } from "./gateway.ts";

type Found = Awaited<ReturnType<Gateway["search"]>>;

/** How tokens are counted. */
export const CHARACTERS_PER_TOKEN = 4;

/** The keys, brackets and the cursor. */
const ENVELOPE = 100;
/** The part of an answer that servers may take; they are what browsing is for. */
const SERVERS_SHARE = { query: 1 / 3, browse: 1 / 2 } as const;

/** One answer of `search`. `isBrowse` if the query is empty: then all servers are listed. */
export function createSearchAnswer(tokens: number, isBrowse: boolean) {
  const all = tokens * CHARACTERS_PER_TOKEN;
  const choose = (servers: readonly UpstreamStatus[]) =>
    chooseServers(servers, isBrowse, all * SERVERS_SHARE[isBrowse ? "browse" : "query"]);
  return {
    /** What is left for tools. */
    roomFor: (servers: readonly UpstreamStatus[]): number => all - ENVELOPE - sizeOf(choose(servers).shown),
    render: ({ tools, cursor, servers }: Found): CallToolResult => {
      const { shown, more } = choose(servers);
      const text = renderSearch({ tools, servers: shown, ...defined({ cursor }) }, { isBrowse, more });
      const hits = tools.map(({ labels: _labels, effectSource: _source, ...hit }) => hit);
      const listed = { servers: shown.length > 0 ? shown : undefined, moreServers: more > 0 ? more : undefined };
      return {
        content: [{ type: "text", text }],
        structuredContent: { tools: hits, ...defined({ ...listed, cursor }) },
      };
    },
  };
}

type ServerLine = Pick<UpstreamStatus, "name" | "state" | "tools" | "withheld" | "cause" | "hint">;

/** The state of a server for a model, without fields that it does not need: its standard error is for the operator. */
export function toServerLine({ name, state, tools, withheld, cause, hint }: ServerLine): ServerLine {
  return { name, state, tools, ...defined({ withheld, cause, hint }) };
}

/** Its tools are missing from the answer, all or some. A hint alone is for the operator. */
function isTroubled({ state, withheld = 0 }: ServerLine): boolean {
  return state !== "ready" || withheld > 0;
}

/** Servers that are not ready come first. One that does not fit with its cause is listed without, or only counted. */
function chooseServers(servers: readonly UpstreamStatus[], isBrowse: boolean, room: number) {
  const troubled = servers.filter(isTroubled);
  const wanted = isBrowse ? [...troubled, ...servers.filter((one) => !isTroubled(one))] : troubled;
  const shown: ServerLine[] = [];
  let left = room;
  for (const server of wanted) {
    const { name, state, tools } = server;
    const line = [toServerLine(server), { name, state, tools }].find((one) => sizeOf([one]) <= left);
    if (!line) break;
    left -= sizeOf([line]);
    shown.push(line);
  }
  return { shown, more: wanted.length - shown.length };
}

function sizeOf(lines: readonly ServerLine[]): number {
  return lines.reduce((sum, line) => sum + JSON.stringify(line).length + 1, 0);
}

/** One line per tool, which starts with its signature or its name; then servers that are not ready or withhold tools. */
export function renderSearch(
  { tools, servers, cursor }: Pick<Found, "tools" | "cursor"> & { readonly servers: readonly ServerLine[] },
  { isBrowse = false, more = 0 } = {},
): string {
  const found = tools.map(({ signature, name, effect, summary }) =>
    `${signature ?? name} [${effect}] ${summary}`.trimEnd(),
  );
  const lines = found.length === 0 ? ["No tool found. Try fewer or other words, or an empty query to browse."] : found;
  const next = cursor === undefined ? [] : [`More with cursor: ${cursor}`];
  const ready = isBrowse
    ? servers.filter((one) => !isTroubled(one)).map(({ name, tools: count }) => `${name} (${count})`)
    : [];
  const all = ready.length === 0 ? [] : [`Servers with their number of tools: ${ready.join(", ")}`];
  const rest = more === 0 ? [] : [`${more} more servers are not shown.`];
  return [...lines, ...next, ...servers.filter(isTroubled).map(renderServer), ...all, ...rest].join("\n");
}

function renderServer({ name, state, cause, hint }: ServerLine): string {
  const why = [cause, hint && `Hint: ${hint}`].filter((part) => part !== undefined && part !== "").join(" ");
  return `Server ${name} is ${state}${why === "" ? "" : `: ${why}`}`;
}
