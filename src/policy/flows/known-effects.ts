/**
 * Reviewed effects of tools of well-known servers, where annotations mislead: a server that declares every action as
 * destructive makes people approve without reading. Each entry was checked against what the tool does. Names are
 * exact, so a new tool of a server has the effect that the server declares. `policy.effects` overrides all of them.
 */

import type { ConnectorId, Effect, UpstreamSettings } from "../../domain/index.ts";
import { findServerPlaces, isPackage } from "./find-server.ts";

interface ReviewedServer {
  /** As in the list of known servers. */
  readonly packages: readonly string[];
  /** Names without separators, in lower case. */
  readonly tools: ReadonlyMap<string, Exclude<Effect, "unknown">>;
}

function review(packages: string, effects: Partial<Record<Exclude<Effect, "unknown">, string>>): ReviewedServer {
  const split = (text: string): readonly string[] => text.trim().split(/\s+/);
  const tools = (["read", "write", "destroy"] as const).flatMap((effect) =>
    split(effects[effect] ?? "").map((name) => [name, effect] as const),
  );
  return { packages: split(packages), tools: new Map(tools.filter(([name]) => name !== "")) };
}

export const REVIEWED_SERVERS: readonly ReviewedServer[] = [
  // Creating, changing and renaming files is ordinary work; none of these deletes a file. A move never overwrites.
  review("@modelcontextprotocol/server-filesystem mcp-server-filesystem mcp/filesystem", {
    write: "writefile editfile createdirectory movefile",
  }),
  // Opening, looking and waiting. Clicks, typing, uploads, dialogs and scripts act on a page and keep their effect.
  review("@playwright/mcp mcp/playwright", {
    read: "browsersnapshot",
    write: `
      browsernavigate browsernavigateback browsernavigateforward browserhover browserresize browserwaitfor browserclose
      browseremulatemedia
    `,
  }),
  review("@modelcontextprotocol/server-puppeteer mcp/puppeteer", { write: "puppeteernavigate puppeteerhover" }),
  review("chrome-devtools-mcp", {
    read: "takesnapshot listpages",
    write: "navigatepage newpage selectpage hover waitfor resizepage",
  }),
  // Requests of the method GET.
  review("mcp-server-fetch mcp/fetch", { read: "fetch" }),
  review("mcp-server-time mcp/time", { read: "getcurrenttime converttime" }),
  review("mcp-server-sqlite mcp/sqlite", { read: "readquery listtables describetable" }),
];

/** Returns the reviewed effect of a tool, by the package that the operator configured; `undefined` for others. */
export type EffectReview = (tool: {
  readonly connector: ConnectorId;
  readonly remoteName: string;
}) => Effect | undefined;

/** Only commands: an address says who answers, not which program. */
export function createEffectReview(settings: Pick<UpstreamSettings, "upstreams" | "apis">): EffectReview {
  const known = new Map<ConnectorId, ReviewedServer>();
  for (const [id, place] of findServerPlaces(settings)) {
    if (place.kind !== "command") continue;
    for (const [at, word] of [place.command, ...place.args].entries()) {
      const server = REVIEWED_SERVERS.find(({ packages }) => isPackage(word, packages, at === 0));
      if (server) known.set(id, server);
      if (server) break;
    }
  }
  return ({ connector, remoteName }) =>
    known.get(connector)?.tools.get(remoteName.toLowerCase().replaceAll(/[-_. ]/g, ""));
}
