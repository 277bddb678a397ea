/**
 * Decides which listed definitions may be offered: those that were accepted, byte for byte of their canonical form.
 * Fails closed: what cannot be compared with the store or written down is withheld.
 */

import { GloveboxError, canonicalJson } from "../../domain/index.ts";
import type {
  ConnectorId,
  Digest,
  Instant,
  Json,
  JsonObject,
  UpstreamSettings,
  WithheldTool,
} from "../../domain/index.ts";
import type { HeldRow, Store } from "../../store/index.ts";
import type { ListedTool, Listing } from "../parse-listing.ts";

/** One line for the ledger about a definition. */
export interface PinEntry {
  readonly actor: string;
  readonly action: "tool.pinned" | "tool.held" | "tool.approved";
  /** The server's own name of the tool. */
  readonly subject: string;
  readonly detail: JsonObject;
}

/** What pinning needs. */
export interface PinPowers {
  readonly store: Store["pins"];
  /** Resolves once it is durable; rejects when it is not, and then nothing is accepted. */
  readonly record: (entry: PinEntry) => Promise<unknown>;
  readonly modeOf: (connector: ConnectorId) => UpstreamSettings["pins"]["usual"];
  readonly now: () => Instant;
}

/** A listed tool that is not offered. */
export interface Withheld {
  readonly tool: ListedTool;
  readonly why: WithheldTool["why"];
}

/** One server's tools, divided. Both keep the order of the listing. */
export interface Admission {
  readonly admitted: readonly ListedTool[];
  readonly withheld: readonly Withheld[];
}

/** Divides a listing. Does not reject while the store is away: then only what it knew before is offered. */
export type AdmitTools = (connector: ConnectorId, listing: Listing) => Promise<Admission>;

type Pins = ReadonlyMap<string, Digest>;

const GATEWAY = "gateway";
/** How long a definition that only another process sees is kept for approval. */
const OTHERS_MS = 24 * 60 * 60 * 1000;
/** Of a definition's texts, as they are kept to show a difference later; the digest covers all of them. */
const KEPT_TEXT_LENGTH = 32 * 1024;

/** Remembers what it read, so that accepted tools stay while the store is away. */
export function createAdmitTools(powers: PinPowers): AdmitTools {
  const known = new Map<ConnectorId, Pins>();
  const noted = new Map<ConnectorId, string>();
  const written = new Map<ConnectorId, ReadonlySet<string>>();

  async function look(connector: ConnectorId): Promise<Pins> {
    const pins = await powers.store.digests(connector);
    known.set(connector, pins);
    return pins;
  }

  async function pinFresh(connector: ConnectorId, listing: Listing, pins: Pins): Promise<Pins> {
    const fresh = listing.tools.filter((tool) => !pins.has(tool.remoteName));
    if (fresh.length === 0 || powers.modeOf(connector) !== "first-use") return pins;
    await Promise.all(fresh.map((tool) => powers.record(toEntry("tool.pinned", connector, tool))));
    const pinnedAt = powers.now();
    await powers.store.claim(fresh.map((tool) => ({ connector, ...toStored(tool), pinnedAt, pinnedBy: GATEWAY })));
    // Read again: another gateway may have been faster, with another definition.
    return look(connector);
  }

  async function note(connector: ConnectorId, withheld: readonly Withheld[], pins: Pins): Promise<void> {
    const signature = withheld.map(({ tool }) => `${tool.digest} ${tool.remoteName}`).join("\n");
    if (noted.get(connector) === signature) return;
    const heldRows = await powers.store.held(connector);
    const stored = new Set(heldRows.map(toKey));
    const seenAt = powers.now();
    const rows = withheld.map(({ tool }): HeldRow => ({ connector, ...toStored(tool), seenAt }));
    const fresh = withheld.filter(({ tool }) => !stored.has(toKey(tool)));
    await Promise.all(fresh.map(({ tool }) => powers.record(toEntry("tool.held", connector, tool))));
    const kept = heldRows.filter((row) => isOfAnother(row, { rows, pins, own: written.get(connector), now: seenAt }));
    if (fresh.length > 0 || stored.size !== rows.length + kept.length) {
      await powers.store.replaceHeld(connector, [...rows, ...kept]);
    }
    written.set(connector, new Set(rows.map(toKey)));
    noted.set(connector, signature);
  }

  return async (connector, listing) => {
    try {
      const pins = await pinFresh(connector, listing, await look(connector));
      const admission = divide(listing, pins, "new");
      await note(connector, admission.withheld, pins);
      return admission;
    } catch (thrown) {
      if (!(thrown instanceof GloveboxError) || thrown.code !== "STORE_UNAVAILABLE") throw thrown;
      return divide(listing, known.get(connector) ?? new Map(), "unrecorded");
    }
  };
}

interface Known {
  readonly rows: readonly HeldRow[];
  readonly pins: Pins;
  readonly own: ReadonlySet<string> | undefined;
  readonly now: Instant;
}

/** Another process may see a definition that this one does not, and wait for its approval: a young row of it stays. */
function isOfAnother(row: HeldRow, { rows, pins, own, now }: Known): boolean {
  if (own?.has(toKey(row)) || now - row.seenAt > OTHERS_MS) return false;
  return pins.get(row.remoteName) !== row.digest && rows.every(({ remoteName }) => remoteName !== row.remoteName);
}

function divide({ tools }: Listing, pins: Pins, whenMissing: WithheldTool["why"]): Admission {
  const admitted = tools.filter((tool) => pins.get(tool.remoteName) === tool.digest);
  const withheld = tools
    .filter((tool) => pins.get(tool.remoteName) !== tool.digest)
    .map((tool): Withheld => ({ tool, why: pins.has(tool.remoteName) ? "changed" : whenMissing }));
  return { admitted, withheld };
}

const toKey = ({ remoteName, digest }: { remoteName: string; digest: Digest }): string => `${digest} ${remoteName}`;

function toEntry(action: PinEntry["action"], server: ConnectorId, { remoteName, digest }: ListedTool): PinEntry {
  return { actor: GATEWAY, action, subject: remoteName, detail: { server, definition: digest } };
}

function toStored({
  remoteName,
  digest,
  definition,
}: ListedTool): Pick<HeldRow, "remoteName" | "digest" | "definition"> {
  const kept = Object.entries(definition).map(([key, value]) => [key, toKept(value)] as const);
  return { remoteName, digest, definition: canonicalJson(Object.fromEntries(kept)) };
}

function toKept(value: Json): Json {
  return typeof value === "string" ? value.slice(0, KEPT_TEXT_LENGTH).toWellFormed() : value;
}
