/**
 * Decides which listed definitions are offered: those whose canonical form was accepted, byte for byte.
 * Fails closed: a definition that cannot be compared with the store or recorded is withheld.
 */

/** A tool that is not offered, and why. */
export type HeldBack = Parameters<typeof describeWithheld>[0];

import { GloveboxError, canonicalJson } from "../../domain/index.ts";
import type { describeWithheld } from "../../domain/index.ts";
import type { ConnectorId, Digest, Instant, Json, JsonObject, UpstreamSettings } from "../../domain/index.ts";
import type { HeldRow, Store } from "../../store/index.ts";
import { DAY_MS, mapInSlices, runInSlices } from "../../timing/index.ts";
import { createCollisionTest, nameTools } from "../name-tools.ts";
import type { ListedTool, ToolListing } from "../parse-listing.ts";
import { namesOf, readPins } from "./read-pins.ts";
import type { Pins } from "./read-pins.ts";

export interface PinEntry {
  readonly actor: string;
  readonly action: "tool.pinned" | "tool.held" | "tool.approved" | "tool.rejected";
  readonly subject: string;
  readonly detail: JsonObject;
}

export interface PinPowers {
  readonly store: Store["pins"];
  /** Resolves once the entry is durable. If it rejects, nothing is accepted. */
  readonly record: (entry: PinEntry) => Promise<unknown>;
  readonly modeOf: (connector: ConnectorId) => UpstreamSettings["pins"]["usual"];
  readonly now: () => Instant;
}

export interface WithheldDefinition {
  readonly tool: ListedTool;
  readonly why: HeldBack["why"];
}

/** The tools of one server, admitted or withheld, each in the order of the listing. */
export interface ToolAdmission {
  readonly admitted: readonly ListedTool[];
  readonly withheld: readonly WithheldDefinition[];
  /** The names in programs of all accepted tools, listed or not, by the server's names. */
  readonly names: ReadonlyMap<string, string>;
}

const GATEWAY = "gateway";
/** How long a definition that only another process sees is kept for approval. */
const OTHERS_MS = DAY_MS;
/** How much of each string of a definition is stored to show differences; the digest covers all of it. */
const KEPT_TEXT_LENGTH = 32 * 1024;

/** Does not reject while the store is unavailable: then only tools that it read as accepted before are offered. */
export function createAdmitTools(powers: PinPowers) {
  const known = new Map<ConnectorId, Pins>();
  const noted = new Map<ConnectorId, string>();
  const written = new Map<ConnectorId, ReadonlySet<string>>();

  async function look(connector: ConnectorId): Promise<Pins> {
    const pins = await readPins(powers.store, connector);
    known.set(connector, pins);
    return pins;
  }

  async function pinFresh(connector: ConnectorId, listing: ToolListing, pins: Pins): Promise<Pins> {
    const fresh = powers.modeOf(connector) === "first-use" ? nameFresh(listing, pins) : [];
    if (fresh.length === 0) return pins;
    await recordAll("tool.pinned", connector, fresh, powers);
    const common = { connector, pinnedAt: powers.now(), pinnedBy: GATEWAY };
    const toRow = ({ tool, name }: (typeof fresh)[number]) => ({ ...common, ...toStored(tool), name });
    await powers.store.claim(await runInSlices(mapInSlices(fresh, toRow)));
    // Read again: another gateway may have pinned a different definition, or another tool of this name, first.
    return look(connector);
  }

  async function note(connector: ConnectorId, withheld: readonly WithheldDefinition[], pins: Pins): Promise<void> {
    const signature = withheld.map(({ tool }) => `${tool.digest} ${tool.remoteName}`).join("\n");
    if (noted.get(connector) === signature) return;
    const heldRows = await powers.store.held(connector);
    const stored = new Set(heldRows.map(toKey));
    const seenAt = powers.now();
    const toRow = ({ tool }: WithheldDefinition): HeldRow => ({ connector, ...toStored(tool), seenAt });
    const rows = await runInSlices(mapInSlices(withheld, toRow));
    const fresh = withheld.filter(({ tool }) => !stored.has(toKey(tool)));
    await recordAll("tool.held", connector, fresh, powers);
    // Recent rows of other processes, which may see definitions that this process does not.
    const others = heldRows.filter((row) => {
      if (written.get(connector)?.has(toKey(row)) || seenAt - row.seenAt > OTHERS_MS) return false;
      return (
        pins.get(row.remoteName)?.digest !== row.digest && rows.every(({ remoteName }) => remoteName !== row.remoteName)
      );
    });
    if (fresh.length > 0 || stored.size !== rows.length + others.length) {
      await powers.store.replaceHeld(connector, [...rows, ...others]);
    }
    written.set(connector, new Set(rows.map(toKey)));
    noted.set(connector, signature);
  }

  return async (connector: ConnectorId, listing: ToolListing): Promise<ToolAdmission> => {
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

/** Resolves when all are recorded. In slices, because a server may list thousands of tools. */
async function recordAll(
  action: PinEntry["action"],
  connector: ConnectorId,
  tools: readonly Pick<WithheldDefinition, "tool">[],
  powers: Pick<PinPowers, "record">,
): Promise<void> {
  const record = ({ tool }: Pick<WithheldDefinition, "tool">): Promise<unknown> => {
    const recorded = powers.record(toEntry(action, connector, tool));
    recorded.catch(() => undefined); // it may reject before all have been written
    return recorded;
  };
  await Promise.all(await runInSlices(mapInSlices(tools, record)));
}

/** Returns the tools that first use accepts: not those with the name of an accepted tool. */
function nameFresh(
  { tools }: ToolListing,
  pins: Pins,
): readonly { readonly tool: ListedTool; readonly name: string }[] {
  const kept = namesOf(pins);
  const collides = createCollisionTest(kept);
  const fresh = tools.filter(({ remoteName }) => !pins.has(remoteName) && !collides(remoteName));
  const names = nameTools(
    fresh.map(({ remoteName }) => remoteName),
    kept,
  );
  return fresh.map((tool) => ({ tool, name: names.get(tool.remoteName) ?? "" }));
}

function divide({ tools }: ToolListing, pins: Pins, whenMissing: HeldBack["why"]): ToolAdmission {
  const isPinned = ({ remoteName, digest }: ListedTool): boolean => pins.get(remoteName)?.digest === digest;
  const names = namesOf(pins);
  const collides = createCollisionTest(names);
  const explain = ({ remoteName }: ListedTool): HeldBack["why"] => {
    if (pins.has(remoteName)) return "changed";
    return whenMissing === "new" && collides(remoteName) ? "collides" : whenMissing;
  };
  const withheld = tools.filter((tool) => !isPinned(tool)).map((tool) => ({ tool, why: explain(tool) }));
  return { admitted: tools.filter(isPinned), withheld, names };
}

const toKey = ({ remoteName, digest }: { remoteName: string; digest: Digest }): string => `${digest} ${remoteName}`;

function toEntry(action: PinEntry["action"], server: ConnectorId, { remoteName, digest }: ListedTool): PinEntry {
  return { actor: GATEWAY, action, subject: remoteName, detail: { server, definition: digest } };
}

function toStored({ remoteName, digest, definition }: ListedTool) {
  const stored = Object.entries(definition).map(([key, value]): [string, Json] => {
    return [key, typeof value === "string" ? value.slice(0, KEPT_TEXT_LENGTH).toWellFormed() : value];
  });
  return { remoteName, digest, definition: canonicalJson(Object.fromEntries(stored)) };
}
