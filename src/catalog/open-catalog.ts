/** The catalog: one snapshot of all servers' tools, made anew only when some server's tools are others. */

import type { Connector } from "../connectors/index.ts";
import { serverCommand } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, Digest, Instant, Labeler, Tool, UpstreamStatus } from "../domain/index.ts";
import { createAdmitTools } from "./pins/admit-tools.ts";
import type { Admission, PinPowers } from "./pins/admit-tools.ts";
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
   * bounded time; a server that fails or is late contributes nothing, or what it last listed. Definitions that nobody
   * accepted are withheld; an approval by another process is noticed here.
   */
  takeSnapshot(): Promise<CatalogSnapshot>;
  /** The way to the server behind a tool of any snapshot of this catalog. */
  connectorOf(tool: Tool): Connector;
  /** One per server, also those without tools; `tools` counts what the catalog took. */
  statuses(): readonly UpstreamStatus[];
  /** The listener hears that some server has listed its tools. Returns the way to stop listening. */
  onListed(listener: () => void): () => void;
  /** Of the first snapshot that anybody took. */
  firstDigest(): Digest | undefined;
  close(): Promise<void>;
}

/** What the catalog is handed. Text of servers passes through `clean` before anybody reads it. */
export interface CatalogOptions {
  readonly connectors: readonly Connector[];
  readonly now: () => Instant;
  readonly clean: Clean;
  readonly pins: Omit<PinPowers, "now">;
  readonly patience?: Patience;
  /** The labels of a tool, from what its server lists and where its server is. */
  readonly labelsOf?: Labeler;
}

/** Long enough for a server that npm has to fetch only when it is cached; a later snapshot has the others. */
const PATIENCE: Patience = { firstMs: 10_000, againMs: 2000 };

/** Names are given to all servers at once, so that one which is down does not rename the others. */
export function openCatalog({ connectors, now, clean, pins, labelsOf, patience = PATIENCE }: CatalogOptions): Catalog {
  const byId = new Map(connectors.map((connector) => [connector.id, connector]));
  if (byId.size !== connectors.length) throw new TypeError("Two connectors have the same id");
  const namespaces = nameNamespaces(byId.keys());
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  const onListed = (): void => listeners.forEach((listener) => listener());
  const followed = connectors.map((one) => followConnector(one, { clean, patience, onListed, signal: closing.signal }));
  const admissions = createAdmissions(followed, { ...pins, now });
  let snapshot: CatalogSnapshot | undefined;
  let firstDigest: Digest | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function update(): Promise<CatalogSnapshot> {
    const isSame = await admissions.refresh();
    if (snapshot && isSame) return snapshot;
    const next = createSnapshot(toContributions(followed, namespaces, admissions.find), now(), labelsOf);
    snapshot = snapshot?.digest === next.digest ? snapshot : next;
    firstDigest ??= snapshot.digest;
    return snapshot;
  }

  /** One after the other: two at once could each pin what the other has not read yet. */
  async function takeSnapshot(): Promise<CatalogSnapshot> {
    await Promise.all(followed.map((one) => one.refresh()).filter((waiting) => waiting !== undefined));
    const updated = last.then(update);
    last = updated.catch(() => undefined);
    return updated;
  }

  function connectorOf(tool: Tool): Connector {
    const connector = byId.get(tool.origin.connector);
    if (!connector) throw new TypeError(`${tool.address} is not a tool of this catalog`);
    return connector;
  }

  async function close(): Promise<void> {
    closing.abort();
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
    close,
    [Symbol.asyncDispose]: close,
  };
}

type FindAdmission = (connector: ConnectorId) => Admission | undefined;

/** Asks again about a server whose listing is another one, or of which something is withheld. */
function createAdmissions(followed: readonly Followed[], powers: PinPowers) {
  const admit = createAdmitTools(powers);
  const admissions = new Map<ConnectorId, { readonly version: number; readonly admission: Admission }>();

  async function refreshOne(one: Followed): Promise<boolean> {
    const { id } = one.connector;
    const [seen, current, listed] = [admissions.get(id), one.version(), one.listing()];
    if (!listed || (seen?.version === current && seen.admission.withheld.length === 0)) return true;
    const admission = await admit(id, listed);
    admissions.set(id, { version: current, admission });
    return seen?.version === current && toSignature(seen.admission) === toSignature(admission);
  }

  return {
    find: (id: ConnectorId) => admissions.get(id)?.admission,
    /** True when nothing is different. */
    refresh: async () => (await Promise.all(followed.map(refreshOne))).every((isSame) => isSame),
  };
}

/** Of one listing: what is not withheld is admitted. */
function toSignature({ withheld }: Admission): string {
  return withheld.map(({ tool, why }) => `${why} ${tool.remoteName}`).join("\n");
}

/** A server that never listed anything is still a global, so that a program learns that a tool is missing, not a name. */
const NOTHING: Admission = { admitted: [], withheld: [] };

function toContributions(
  followed: readonly Followed[],
  namespaces: ReadonlyMap<string, string>,
  find: FindAdmission,
): Contribution[] {
  return followed.flatMap((one) => {
    const connector = one.connector.id;
    const namespace = namespaces.get(connector);
    if (namespace === undefined) return [];
    const { admitted, withheld } = find(connector) ?? NOTHING;
    const listing = { tools: admitted, leftOut: one.listing()?.leftOut ?? 0 };
    return [{ connector, namespace, listing, withheld }];
  });
}

function toStatus(followed: Followed, admission: Admission | undefined): UpstreamStatus {
  const status = followed.connector.status();
  if (!admission) return status;
  const leftOut = followed.listing()?.leftOut ?? 0;
  const withheld = admission.withheld.length;
  const hints = [
    ...(withheld > 0 ? [describeHeld(status.name, admission)] : []),
    ...(leftOut > 0 ? [`${describeLeftOut(leftOut)}. Ask the author of this server to mend them`] : []),
  ];
  return {
    ...status,
    tools: admission.admitted.length,
    ...(withheld > 0 && { withheld }),
    ...(status.hint === undefined && hints.length > 0 && { hint: hints.join(". ") }),
  };
}

/** Without the tools' names, which are the server's own text: `glovebox servers` shows them cleaned. */
function describeHeld(connector: ConnectorId, { withheld }: Admission): string {
  const count = `${withheld.length} ${withheld.length === 1 ? "tool is" : "tools are"} withheld`;
  if (withheld.some(({ why }) => why === "unrecorded")) return `${count}: the store cannot be read or written`;
  const changed = withheld.filter(({ why }) => why === "changed").length;
  return `${count}, ${changed} of them changed: an operator can review and accept them with ${serverCommand("approve", connector)}`;
}
