/** Joins the listings of all upstreams into a snapshot with addresses, namespaces and a digest. Pure. */

import { digestOf } from "../text/index.ts";
import { defined, parseToolAddress } from "../domain/index.ts";
import type { HeldBack } from "./pins/admit-tools.ts";
import type {
  CatalogSnapshot,
  ConnectorId,
  Effect,
  Instant,
  Labeler,
  Namespace,
  Tool,
  ToolAddress,
} from "../domain/index.ts";
import { applyReview } from "./effect-of.ts";
import type { WithheldDefinition } from "./pins/admit-tools.ts";
import { nameTools, toPlainName } from "./name-tools.ts";
import type { ToolListing } from "./parse-listing.ts";

export interface Contribution {
  readonly connector: ConnectorId;
  readonly namespace: string;
  readonly listing: ToolListing;
  readonly withheld?: readonly WithheldDefinition[];
  /** The names that accepted tools keep, by the server's names. */
  readonly names?: ReadonlyMap<string, string>;
}

/** What is known about tools that their servers do not say. */
export interface ToolReviews {
  readonly labelsOf?: Labeler;
  readonly effectOf?: (tool: { readonly connector: ConnectorId; readonly remoteName: string }) => Effect | undefined;
}

/** Returns a frozen snapshot: an execution uses the same tools until it ends. */
export function createSnapshot(
  contributions: readonly Contribution[],
  takenAt: Instant,
  { labelsOf = () => [], effectOf = () => undefined }: ToolReviews = {},
): CatalogSnapshot {
  const sorted = contributions.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
  const tools = new Map<ToolAddress, Tool>();
  const withheld = new Map<ToolAddress, HeldBack>();
  const namespaces: Namespace[] = [];
  for (const contribution of sorted) {
    const names = nameContribution(contribution);
    const own = toTools(contribution, names, { labelsOf, effectOf });
    for (const tool of own) tools.set(tool.address, tool);
    for (const one of toWithheld(contribution, names)) if (!tools.has(one.address)) withheld.set(one.address, one);
    namespaces.push(toNamespace(contribution, own));
  }
  const parts = [...tools.values()].map(({ address, origin, digest, labels, effect, effectSource }) => {
    const reviewed = effectSource === "reviewed" ? [effect] : [];
    return [address, { ...origin }, digest, ...(labels ? [[...labels]] : []), ...reviewed];
  });
  const missing = [...withheld.values()].map(({ address, remoteName, why }) => [address, remoteName, why]);
  const spaces = namespaces.map(({ name, connector, summary }) => [name, connector, summary]);
  const digest = digestOf([parts, spaces, missing]);
  return Object.freeze({ digest, takenAt, tools, namespaces: Object.freeze(namespaces), withheld });
}

function nameContribution({ listing, withheld = [], names }: Contribution): ReadonlyMap<string, string> {
  const all = [...listing.tools, ...withheld.map(({ tool }) => tool)];
  return nameTools(
    all.map(({ remoteName }) => remoteName),
    names,
  );
}

function toTools(
  { connector, namespace, listing }: Contribution,
  names: ReadonlyMap<string, string>,
  { labelsOf, effectOf }: Required<ToolReviews>,
): readonly Tool[] {
  const tools = listing.tools.map((listed) => {
    const name = names.get(listed.remoteName);
    const address = toAddress(namespace, name);
    const { remoteName, openWorld, synthetic, definition: _, ...declared } = listed;
    const offered = applyReview(declared, synthetic ? undefined : effectOf({ connector, remoteName }));
    const origin = Object.freeze({ kind: "upstream" as const, connector, remoteName });
    const plain = toPlainName(remoteName);
    const collided = defined({ plainName: plain === name ? undefined : plain });
    const about = { connector, address, remoteName, ...collided };
    const labels = labelsOf({ ...about, openWorld, synthetic, effect: offered.effect });
    return Object.freeze({
      address,
      origin,
      ...collided,
      ...offered,
      ...defined({ labels: labels.length > 0 ? labels : undefined }),
    });
  });
  return tools.toSorted((a, b) => (a.address < b.address ? -1 : 1));
}

function toWithheld(
  { connector, namespace, withheld = [] }: Contribution,
  names: ReadonlyMap<string, string>,
): readonly HeldBack[] {
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
  const left = listing.leftOut.length === 0 ? "" : `; ${describeLeftOut(listing.leftOut)}`;
  const held = withheld.length === 0 ? "" : `; ${withheld.length} more withheld until an operator approves them`;
  return Object.freeze({
    name: namespace,
    connector,
    summary: `${tools.length} ${tools.length === 1 ? "tool" : "tools"} of the server ${connector}${left}${held}`,
    tools: Object.freeze(tools.map((tool) => tool.address.slice(namespace.length + 1))),
  });
}

/** Names the reasons without the tools' names, which are untrusted. */
function describeLeftOut(leftOut: ToolListing["leftOut"]): string {
  const reasons = [...new Set(leftOut.map(({ why }) => why))];
  return `${leftOut.length} more left out: ${reasons.join(", ")}`;
}
