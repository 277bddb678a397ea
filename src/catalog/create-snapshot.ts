/** Puts the listings of all servers under one roof: addresses, namespaces and the digest of the whole. Pure. */

import { digestOf } from "../text/index.ts";
import { parseToolAddress } from "../domain/index.ts";
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
import type { Withheld } from "./pins/admit-tools.ts";
import { nameTools } from "./name-tools.ts";
import type { ListedTool, Listing } from "./parse-listing.ts";

/** What one server brings in, and the global that it becomes. */
export interface Contribution {
  readonly connector: ConnectorId;
  readonly namespace: string;
  /** Only what may be offered. */
  readonly listing: Listing;
  readonly withheld?: readonly Withheld[];
}

/** Frozen: an execution that holds a snapshot sees the same tools to its end. */
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
  // A tool that was accepted once keeps its part in the names of the others; one that is new has none yet:
  // otherwise a server could rename accepted tools by listing a name that collides.
  const changed = withheld.filter(({ why }) => why === "changed").map(({ tool }) => tool.remoteName);
  const names = nameTools([...listing.tools.map(({ remoteName }) => remoteName), ...changed]);
  const tools = listing.tools.map((listed) => {
    const address = toAddress(namespace, names.get(listed.remoteName));
    const origin = Object.freeze({ kind: "upstream" as const, connector, remoteName: listed.remoteName });
    const { remoteName, openWorld, synthetic, effect } = listed;
    const labels = labelsOf({ connector, address, remoteName, openWorld, synthetic, effect });
    return Object.freeze({ address, origin, ...toOffered(listed), ...(labels.length > 0 && { labels }) });
  });
  return tools.toSorted((a, b) => (a.address < b.address ? -1 : 1));
}

function toOffered({
  summary,
  description,
  input,
  output,
  effect,
  effectSource,
  idempotent,
  digest,
}: ListedTool): Omit<Tool, "address" | "origin"> {
  const claims = { ...(effectSource && { effectSource }), ...(idempotent === true && { idempotent }) };
  return { summary, description, input, output, effect, ...claims, digest };
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
  if (!address) throw new TypeError(`The naming rule made no address for a tool of ${namespace}`);
  return address;
}

function toNamespace(
  { connector, namespace, listing, withheld = [] }: Contribution,
  tools: readonly Tool[],
): Namespace {
  const left = listing.leftOut === 0 ? "" : `; ${describeLeftOut(listing.leftOut)}`;
  const held = withheld.length === 0 ? "" : `; ${withheld.length} more withheld until an operator approves`;
  return Object.freeze({
    name: namespace,
    connector,
    summary: `${tools.length} ${tools.length === 1 ? "tool" : "tools"} of the server ${connector}${left}${held}`,
    tools: Object.freeze(tools.map((tool) => tool.address.slice(namespace.length + 1))),
  });
}

/** The one sentence about definitions that the bounds kept out, for people and models alike. */
export function describeLeftOut(count: number): string {
  return `${count} more left out: malformed, repeated, too large or too many`;
}
