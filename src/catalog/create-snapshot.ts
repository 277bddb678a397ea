/** Puts the listings of all servers under one roof: addresses, namespaces and the digest of the whole. Pure. */

import { parseToolAddress } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, Instant, Namespace, Tool, ToolAddress } from "../domain/index.ts";
import { nameTools } from "./name-tools.ts";
import { digestOf } from "./parse-listing.ts";
import type { Listing } from "./parse-listing.ts";

/** What one server brings in, and the global that it becomes. */
export interface Contribution {
  readonly connector: ConnectorId;
  readonly namespace: string;
  readonly listing: Listing;
}

/** Frozen: an execution that holds a snapshot sees the same tools to its end. */
export function createSnapshot(contributions: readonly Contribution[], takenAt: Instant): CatalogSnapshot {
  const sorted = contributions.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
  const tools = new Map<ToolAddress, Tool>();
  const namespaces: Namespace[] = [];
  for (const contribution of sorted) {
    const own = toTools(contribution);
    for (const tool of own) tools.set(tool.address, tool);
    namespaces.push(toNamespace(contribution, own));
  }
  const parts = [...tools.values()].map(({ address, origin, digest }) => [address, { ...origin }, digest]);
  const digest = digestOf([parts, namespaces.map(({ name, connector, summary }) => [name, connector, summary])]);
  return Object.freeze({ digest, takenAt, tools, namespaces: Object.freeze(namespaces) });
}

function toTools({ connector, namespace, listing }: Contribution): readonly Tool[] {
  const names = nameTools(listing.tools.map((listed) => listed.remoteName));
  const tools = listing.tools.map(({ remoteName, ...rest }) => {
    const address = parseToolAddress(`${namespace}.${names.get(remoteName)}`);
    if (!address) throw new TypeError(`The naming rule made no address for a tool of ${namespace}`);
    const origin = Object.freeze({ kind: "upstream" as const, connector, remoteName });
    return Object.freeze({ address, origin, ...rest });
  });
  return tools.toSorted((a, b) => (a.address < b.address ? -1 : 1));
}

function toNamespace({ connector, namespace, listing }: Contribution, tools: readonly Tool[]): Namespace {
  const left = listing.leftOut === 0 ? "" : `; ${describeLeftOut(listing.leftOut)}`;
  return Object.freeze({
    name: namespace,
    connector,
    summary: `${tools.length} ${tools.length === 1 ? "tool" : "tools"} of the server ${connector}${left}`,
    tools: Object.freeze(tools.map((tool) => tool.address.slice(namespace.length + 1))),
  });
}

/** The one sentence about definitions that the bounds kept out, for people and models alike. */
export function describeLeftOut(count: number): string {
  return `${count} more left out: malformed, repeated, too large or too many`;
}
