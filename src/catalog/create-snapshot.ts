/** Joins the listings of all upstreams into a snapshot with addresses, namespaces and a digest. Pure. */

import { digestOf } from "../text/index.ts";
import { defined, parseToolAddress } from "../domain/index.ts";
import type {
  CatalogSnapshot,
  ConnectorId,
  Instant,
  Labeler,
  Namespace,
  Tool,
  ToolAddress,
  WithheldTool,
} from "../domain/index.ts";
import type { WithheldDefinition } from "./pins/admit-tools.ts";
import { nameTools } from "./name-tools.ts";
import type { ToolListing } from "./parse-listing.ts";

export interface Contribution {
  readonly connector: ConnectorId;
  readonly namespace: string;
  readonly listing: ToolListing;
  readonly withheld?: readonly WithheldDefinition[];
}

/** Returns a frozen snapshot: an execution uses the same tools until it ends. */
export function createSnapshot(
  contributions: readonly Contribution[],
  takenAt: Instant,
  labelsOf: Labeler = () => [],
): CatalogSnapshot {
  const sorted = contributions.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
  const tools = new Map<ToolAddress, Tool>();
  const withheld = new Map<ToolAddress, WithheldTool>();
  const namespaces: Namespace[] = [];
  for (const contribution of sorted) {
    const own = toTools(contribution, labelsOf);
    for (const tool of own) tools.set(tool.address, tool);
    for (const one of toWithheld(contribution)) if (!tools.has(one.address)) withheld.set(one.address, one);
    namespaces.push(toNamespace(contribution, own));
  }
  const parts = [...tools.values()].map(({ address, origin, digest, labels }) => {
    return [address, { ...origin }, digest, ...(labels ? [[...labels]] : [])];
  });
  const missing = [...withheld.values()].map(({ address, remoteName, why }) => [address, remoteName, why]);
  const spaces = namespaces.map(({ name, connector, summary }) => [name, connector, summary]);
  const digest = digestOf([parts, spaces, missing]);
  return Object.freeze({ digest, takenAt, tools, namespaces: Object.freeze(namespaces), withheld });
}

function toTools({ connector, namespace, listing, withheld = [] }: Contribution, labelsOf: Labeler): readonly Tool[] {
  // Changed tools take part in naming, new ones do not: otherwise a server could rename accepted tools by listing a
  // new one whose name collides.
  const changed = withheld.filter(({ why }) => why === "changed").map(({ tool }) => tool.remoteName);
  const names = nameTools([...listing.tools.map(({ remoteName }) => remoteName), ...changed]);
  const tools = listing.tools.map((listed) => {
    const address = toAddress(namespace, names.get(listed.remoteName));
    const { remoteName, openWorld, synthetic, definition: _, ...offered } = listed;
    const origin = Object.freeze({ kind: "upstream" as const, connector, remoteName });
    const labels = labelsOf({ connector, address, remoteName, openWorld, synthetic, effect: offered.effect });
    return Object.freeze({
      address,
      origin,
      ...offered,
      ...defined({ labels: labels.length > 0 ? labels : undefined }),
    });
  });
  return tools.toSorted((a, b) => (a.address < b.address ? -1 : 1));
}

function toWithheld({ connector, namespace, listing, withheld = [] }: Contribution): readonly WithheldTool[] {
  const all = [...listing.tools, ...withheld.map(({ tool }) => tool)];
  const names = nameTools(all.map(({ remoteName }) => remoteName));
  return withheld.map(({ tool: { remoteName }, why }) => {
    return Object.freeze({ address: toAddress(namespace, names.get(remoteName)), connector, remoteName, why });
  });
}

function toAddress(namespace: string, name: string | undefined): ToolAddress {
  const address = parseToolAddress(`${namespace}.${name}`);
  if (!address) throw new TypeError(`The naming rule produced an invalid address for a tool of ${namespace}`);
  return address;
}

function toNamespace(
  { connector, namespace, listing, withheld = [] }: Contribution,
  tools: readonly Tool[],
): Namespace {
  const left = listing.leftOut === 0 ? "" : `; ${describeLeftOut(listing.leftOut)}`;
  const held = withheld.length === 0 ? "" : `; ${withheld.length} more withheld until an operator approves them`;
  return Object.freeze({
    name: namespace,
    connector,
    summary: `${tools.length} ${tools.length === 1 ? "tool" : "tools"} of the server ${connector}${left}${held}`,
    tools: Object.freeze(tools.map((tool) => tool.address.slice(namespace.length + 1))),
  });
}

export function describeLeftOut(count: number): string {
  return `${count} more omitted: malformed, repeated, too large or too many`;
}
