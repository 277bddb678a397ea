/** The catalog: one snapshot of all servers' tools, made anew only when some server's tools are others. */

import type { Connector } from "../connectors/index.ts";
import type { CatalogSnapshot, Instant, Tool, UpstreamStatus } from "../domain/index.ts";
import { createSnapshot, describeLeftOut } from "./create-snapshot.ts";
import type { Contribution } from "./create-snapshot.ts";
import { followConnector } from "./follow-connector.ts";
import type { Followed, Patience } from "./follow-connector.ts";
import { nameNamespaces } from "./name-tools.ts";
import type { Clean } from "./prose.ts";

/** The connectors stay their owner's: closing the catalog only stops listening to them. */
export interface Catalog extends AsyncDisposable {
  /**
   * The same object until some tool is another one. Waits for the first answer of every server at once, each for a
   * bounded time; a server that fails or is late contributes nothing, or what it last listed.
   */
  takeSnapshot(): Promise<CatalogSnapshot>;
  /** The way to the server behind a tool of any snapshot of this catalog. */
  connectorOf(tool: Tool): Connector;
  /** One per server, also those without tools; `tools` counts what the catalog took. */
  statuses(): readonly UpstreamStatus[];
  close(): Promise<void>;
}

/** What the catalog is handed. Text of servers passes through `clean` before anybody reads it. */
export interface CatalogOptions {
  readonly connectors: readonly Connector[];
  readonly now: () => Instant;
  readonly clean: Clean;
  readonly patience?: Patience;
}

/** Long enough for a server that npm has to fetch only when it is cached; a later snapshot has the others. */
const PATIENCE: Patience = { firstMs: 10_000, againMs: 2000 };

/** Names are given to all servers at once, so that one which is down does not rename the others. */
export function openCatalog({ connectors, now, clean, patience = PATIENCE }: CatalogOptions): Catalog {
  const byId = new Map(connectors.map((connector) => [connector.id, connector]));
  if (byId.size !== connectors.length) throw new TypeError("Two connectors have the same id");
  const namespaces = nameNamespaces(byId.keys());
  const closing = new AbortController();
  const followed = connectors.map((one) => followConnector(one, { clean, patience, signal: closing.signal }));
  let snapshot: CatalogSnapshot | undefined;
  let seenVersions = "";

  async function takeSnapshot(): Promise<CatalogSnapshot> {
    await Promise.all(followed.map((one) => one.refresh()).filter((waiting) => waiting !== undefined));
    const versions = followed.map((one) => one.version()).join();
    if (snapshot && versions === seenVersions) return snapshot;
    seenVersions = versions;
    const next = createSnapshot(toContributions(followed, namespaces), now());
    snapshot = snapshot?.digest === next.digest ? snapshot : next;
    return snapshot;
  }

  function connectorOf(tool: Tool): Connector {
    const connector = byId.get(tool.origin.connector);
    if (!connector) throw new TypeError(`${tool.address} is not a tool of this catalog`);
    return connector;
  }

  async function close(): Promise<void> {
    closing.abort();
  }

  return { takeSnapshot, connectorOf, statuses: () => followed.map(toStatus), close, [Symbol.asyncDispose]: close };
}

/** A server that never listed anything is still a global, so that a program learns that a tool is missing, not a name. */
const NOTHING_LISTED = { tools: [], leftOut: 0 };

function toContributions(followed: readonly Followed[], namespaces: ReadonlyMap<string, string>): Contribution[] {
  return followed.flatMap((one) => {
    const connector = one.connector.id;
    const namespace = namespaces.get(connector);
    return namespace === undefined ? [] : [{ connector, namespace, listing: one.listing() ?? NOTHING_LISTED }];
  });
}

function toStatus(followed: Followed): UpstreamStatus {
  const status = followed.connector.status();
  const listed = followed.listing();
  if (!listed) return status;
  const tools = listed.tools.length;
  if (listed.leftOut === 0 || status.hint !== undefined) return { ...status, tools };
  return { ...status, tools, hint: `${describeLeftOut(listed.leftOut)}. Ask the author of this server to mend them` };
}
