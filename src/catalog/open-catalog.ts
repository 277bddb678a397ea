/** The catalog: one snapshot of the tools of all upstreams, made again only when some tool changed. */

import type { Connector } from "../connectors/index.ts";
import { defined, serverCommand } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, Digest, Instant, Tool, UpstreamStatus } from "../domain/index.ts";
import { settlesWithin } from "../timing/index.ts";
import { createAdmitTools } from "./pins/admit-tools.ts";
import type { ToolAdmission, PinPowers } from "./pins/admit-tools.ts";
import { createSnapshot } from "./create-snapshot.ts";
import type { Contribution, ToolReviews } from "./create-snapshot.ts";
import { followConnector } from "./follow-connector.ts";
import type { UpstreamListing, ListingTimeouts } from "./follow-connector.ts";
import { nameNamespaces } from "./name-tools.ts";
import { toShownName } from "./parse-listing.ts";
import type { ToolListing } from "./parse-listing.ts";
import type { CleanText } from "./prose.ts";

/**
 * The upstreams that a snapshot waits for: all, those of some namespaces, or a part of them that is soon ready. With
 * `some` the first upstream may take half of the usual time, and the others as long as that one did, at least two seconds.
 */
export type NeededServers = "all" | "some" | readonly string[];

/** Does not own the connectors: closing the catalog only removes its listeners. */
export interface Catalog extends AsyncDisposable {
  /**
   * Returns the same object until some tool changes. Starts every upstream and waits for the first listing of those that
   * are needed, with a time limit; an upstream that fails or is late contributes nothing, or its last listing.
   * Definitions that were not accepted are withheld; approvals of another process take effect here.
   */
  takeSnapshot(needed?: NeededServers): Promise<CatalogSnapshot>;
  connectorOf(tool: Tool): Connector;
  /** One per upstream, including those without tools; `tools` counts the admitted ones. */
  statuses(): readonly UpstreamStatus[];
  /** Calls the listener after every listing of an upstream. Returns a function that removes the listener. */
  onListed(listener: () => void): () => void;
  /** The digest of the first snapshot; `undefined` before it was taken. */
  firstDigest(): Digest | undefined;
}

/** What the catalog needs. All text from servers passes through `clean`. */
export interface CatalogOptions extends ToolReviews {
  readonly connectors: readonly Connector[];
  readonly now: () => Instant;
  readonly clean: CleanText;
  readonly pins: Omit<PinPowers, "now">;
  readonly timeouts?: ListingTimeouts;
}

/** Enough to start a cached npm package. A server that takes longer joins a later snapshot. */
const TIMEOUTS: ListingTimeouts = { firstMs: 10_000, refreshMs: 2000 };

/** Names all upstreams at once, so that one that is down does not rename the others. */
export function openCatalog(options: CatalogOptions): Catalog {
  const { connectors, now, clean, pins, timeouts = TIMEOUTS } = options;
  const byId = new Map(connectors.map((connector) => [connector.id, connector]));
  if (byId.size !== connectors.length) throw new TypeError("Two connectors have the same id");
  const namespaces = nameNamespaces(byId.keys());
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  const onListed = (): void => listeners.forEach((listener) => listener());
  const followed = connectors.map((one) =>
    followConnector(one, { clean, timeouts, now, onListed, signal: closing.signal }),
  );
  const admissions = createAdmissions(followed, { ...pins, now });
  let snapshot: CatalogSnapshot | undefined;
  let firstDigest: Digest | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function update(): Promise<CatalogSnapshot> {
    const isSame = await admissions.refresh();
    if (snapshot && isSame) return snapshot;
    const next = createSnapshot(toContributions(followed, namespaces, admissions.find), now(), options);
    snapshot = snapshot?.digest === next.digest ? snapshot : next;
    firstDigest ??= snapshot.digest;
    return snapshot;
  }

  /** Updates run one after another: two at once could pin definitions that the other has not read yet. */
  async function takeSnapshot(needed: NeededServers = "all"): Promise<CatalogSnapshot> {
    const listed = followed.flatMap((one) => {
      const waiting = one.refresh();
      return waiting ? [{ one, waiting }] : [];
    });
    if (needed === "some") await waitForSome(followed, listed, timeouts);
    else {
      const isNeeded = ({ one }: AwaitedListing): boolean =>
        needed === "all" || needed.includes(namespaces.get(one.connector.id) ?? "");
      await Promise.all(listed.filter(isNeeded).map(({ waiting }) => waiting));
    }
    const updated = last.then(update);
    last = updated.catch(() => undefined);
    return updated;
  }

  function connectorOf(tool: Tool): Connector {
    const connector = byId.get(tool.origin.connector);
    if (!connector) throw new TypeError(`${tool.address} is not a tool of this catalog`);
    return connector;
  }

  const statuses = () => followed.map((one) => toStatus(one, admissions.find(one.connector.id)));
  return {
    takeSnapshot,
    connectorOf,
    statuses,
    firstDigest: () => firstDigest,
    onListed: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    [Symbol.asyncDispose]: async () => closing.abort(),
  };
}

interface AwaitedListing {
  readonly one: UpstreamListing;
  readonly waiting: Promise<void>;
}

/** Waits until one upstream has a listing, then about as long for the others, unless they were asked before that time. */
async function waitForSome(
  followed: readonly UpstreamListing[],
  listed: readonly AwaitedListing[],
  { firstMs, refreshMs }: ListingTimeouts,
): Promise<void> {
  if (listed.length === 0) return;
  const startedAt = performance.now();
  const has = async ({ one, waiting }: AwaitedListing): Promise<void> => {
    await waiting;
    if (!one.listing()) throw new TypeError(`${one.connector.id} has no listing`);
  };
  const first = followed.some((one) => one.listing()) ? Promise.resolve() : Promise.any(listed.map(has));
  if (!(await settlesWithin(first, firstMs / 2))) return;
  const mostMs = Math.max(refreshMs, performance.now() - startedAt);
  const recent = listed.filter(({ one }) => one.askedMs() < mostMs);
  if (recent.length > 0) await settlesWithin(Promise.all(recent.map(({ waiting }) => waiting)), mostMs);
}

type FindAdmission = (connector: ConnectorId) => ToolAdmission | undefined;

/** Decides again about an upstream whose listing changed or has withheld tools. */
function createAdmissions(followed: readonly UpstreamListing[], powers: PinPowers) {
  const admit = createAdmitTools(powers);
  const admissions = new Map<ConnectorId, { readonly version: number; readonly admission: ToolAdmission }>();

  async function refreshOne(one: UpstreamListing): Promise<boolean> {
    const { id } = one.connector;
    const [before, current, listed] = [admissions.get(id), one.version(), one.listing()];
    if (!listed || (before?.version === current && before.admission.withheld.length === 0)) return true;
    const admission = await admit(id, listed);
    admissions.set(id, { version: current, admission });
    return before?.version === current && toSignature(before.admission) === toSignature(admission);
  }

  return {
    find: (id: ConnectorId) => admissions.get(id)?.admission,
    refresh: async () => (await Promise.all(followed.map(refreshOne))).every((isSame) => isSame),
  };
}

/** Identifies a decision about one listing: tools that are not withheld are admitted. */
function toSignature({ withheld }: ToolAdmission): string {
  return withheld.map(({ tool, why }) => `${why} ${tool.remoteName}`).join("\n");
}

/** An upstream without a listing is still a global, so a program fails with a missing tool, not a missing name. */
const NOTHING: ToolAdmission = { admitted: [], withheld: [], names: new Map() };

function toContributions(
  followed: readonly UpstreamListing[],
  namespaces: ReadonlyMap<string, string>,
  find: FindAdmission,
): Contribution[] {
  return followed.flatMap((one) => {
    const connector = one.connector.id;
    const namespace = namespaces.get(connector);
    if (namespace === undefined) return [];
    const { admitted, withheld, names } = find(connector) ?? NOTHING;
    const listing = { tools: admitted, leftOut: one.listing()?.leftOut ?? [] };
    return [{ connector, namespace, listing, withheld, names }];
  });
}

function toStatus(followed: UpstreamListing, admission: ToolAdmission | undefined): UpstreamStatus {
  const status = followed.connector.status();
  if (!admission) return status;
  const leftOut = followed.listing()?.leftOut ?? [];
  const withheld = admission.withheld.length;
  const hints = [
    ...(withheld > 0 ? [describeHeld(status.name, admission)] : []),
    ...(leftOut.length > 0 ? [`${listLeftOut(leftOut)}. Report this to the author of the server`] : []),
  ];
  const hint = status.hint ?? (hints.length > 0 ? hints.join(". ") : undefined);
  const findings = describeUnchecked(admission.admitted);
  const counted = { tools: admission.admitted.length, withheld: withheld > 0 ? withheld : undefined };
  return { ...status, ...defined({ ...counted, hint, findings: findings.length > 0 ? findings : undefined }) };
}

const MOST_SHOWN = 3;

function listLeftOut(leftOut: ToolListing["leftOut"]): string {
  const shown = leftOut.slice(0, MOST_SHOWN).map(({ tool, why }) => `${tool} (${why})`);
  const more = leftOut.length > MOST_SHOWN ? `, and ${leftOut.length - MOST_SHOWN} more` : "";
  return `${leftOut.length} left out: ${shown.join(", ")}${more}`;
}

/** One line for each tool whose arguments are only checked in part. */
function describeUnchecked(tools: ToolListing["tools"]): readonly string[] {
  const partly = tools.filter(({ unchecked }) => unchecked !== undefined);
  const lines = partly
    .slice(0, MOST_SHOWN)
    .map(
      ({ remoteName, unchecked = [] }) =>
        `arguments of ${toShownName(remoteName)} are not checked by ${unchecked.join(", ")}`,
    );
  const more = partly.length - lines.length;
  return more > 0 ? [...lines, `arguments of ${more} more tools are only checked in part`] : lines;
}

/** Omits the tools' names, which are untrusted text; `glovebox servers` shows them cleaned. */
function describeHeld(connector: ConnectorId, { withheld }: ToolAdmission): string {
  const count = `${withheld.length} ${withheld.length === 1 ? "tool is" : "tools are"} withheld`;
  if (withheld.some(({ why }) => why === "unrecorded")) return `${count}: the store cannot be read or written`;
  const changed = withheld.filter(({ why }) => why === "changed").length;
  const alike = withheld.filter(({ why }) => why === "collides").length;
  const kinds = `${changed} of them changed${alike > 0 ? `, ${alike} with the name of an accepted tool` : ""}`;
  return `${count}, ${kinds}: an operator can review and accept them with ${serverCommand("approve", connector)}`;
}
