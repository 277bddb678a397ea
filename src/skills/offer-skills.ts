/** Offers approved skills to programs as the namespace `skills`, and opens one for a call after checking it again. */

import { GloveboxError, parseConnectorId } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, Namespace } from "../domain/index.ts";
import type { Tool, ToolAddress } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { digestOf } from "../text/index.ts";
import { findMoved, restrictSnapshot, strictestEffect } from "./judge-grants.ts";
import { SKILLS } from "./skill.ts";
import type { SkillFiles, SkillRow } from "./skill.ts";
import { verifyVersion, withLock } from "./verify-version.ts";
import type { SkillVersion, VersionPowers } from "./verify-version.ts";

export interface OfferPowers extends VersionPowers {
  readonly store: Pick<Store["skills"], "file" | "list" | "revision" | "versions">;
}

export interface SkillOffers {
  /** Returns the same object for the same snapshot until a skill changes. */
  addTo(snapshot: CatalogSnapshot): Promise<CatalogSnapshot>;
  /** The servers whose tools approved skills may call, by their names in programs. */
  listNeeded(): Promise<readonly string[]>;
  /** The files with the lock. Rejects as `open`. */
  readonly files: (tool: Tool, snapshot: CatalogSnapshot) => Promise<SkillFiles>;
  /** Rejects with SKILL_NOT_APPROVED or SKILL_FROZEN unless exactly this version may run now. */
  readonly open: (
    tool: Tool,
    snapshot: CatalogSnapshot,
  ) => Promise<{ readonly source: string; readonly snapshot: CatalogSnapshot }>;
}

type OfferRefusal = NonNullable<ReturnType<NonNullable<CatalogSnapshot["refused"]>["get"]>>;

/** What is known about one skill until something changes in the store. */
type KnownSkill =
  | { readonly kind: "usable"; readonly version: SkillVersion }
  | { readonly kind: "refused"; readonly address: ToolAddress; readonly refusal: OfferRefusal };

const RUNNING: ReadonlySet<SkillRow["state"]> = new Set(["approved", "retired"]);
const SUMMARY_CHARS = 160;

export function openSkillOffers(powers: OfferPowers): SkillOffers {
  const { store } = powers;
  let loaded: { readonly revision: number; readonly skills: Promise<readonly KnownSkill[]> } | undefined;
  let offers = new WeakMap<CatalogSnapshot, CatalogSnapshot>();

  const load = async (): Promise<readonly KnownSkill[]> => {
    const revision = await store.revision();
    if (loaded?.revision !== revision) {
      loaded = { revision, skills: loadSkills(powers) };
      offers = new WeakMap();
    }
    return loaded.skills;
  };
  const find = async (tool: Tool, snapshot: CatalogSnapshot): Promise<SkillVersion> => {
    const rows = await store.versions(tool.origin.remoteName);
    // A running program keeps the version that it started with, unless that was revoked.
    const row = rows.findLast((one) => RUNNING.has(one.state) && digestOffer(one) === tool.digest);
    if (!row) throw toError(refuseUnapproved(rows, tool.address));
    const verified = await verifyVersion(row, powers);
    const moved = verified.ok ? findMoved(verified.grants, snapshot) : undefined;
    if (!verified.ok) throw toError(refuseFrozen(row, verified.problem));
    if (moved !== undefined) throw toError(refuseFrozen(row, moved));
    return verified;
  };
  return {
    async addTo(snapshot) {
      const skills = await load();
      if (skills.length === 0) return snapshot;
      const known = offers.get(snapshot) ?? offer(snapshot, skills);
      offers.set(snapshot, known);
      return known;
    },
    async listNeeded() {
      const grants = (await load()).flatMap((one) => (one.kind === "usable" ? one.version.grants : []));
      return [...new Set(grants.map(({ address }) => address.slice(0, address.indexOf("."))))];
    },
    files: async (tool, snapshot) => withLock(await find(tool, snapshot)),
    async open(tool, snapshot) {
      const { skill, grants } = await find(tool, snapshot);
      return { source: skill.program, snapshot: restrictSnapshot(snapshot, grants) };
    },
  };
}

function toError({ code, message, hint }: OfferRefusal): GloveboxError {
  return new GloveboxError(code, message, { hint });
}

async function loadSkills(powers: OfferPowers): Promise<readonly KnownSkill[]> {
  const byName = Map.groupBy(await powers.store.list(), ({ name }) => name);
  return Promise.all([...byName.values()].map((rows) => loadSkill(rows, powers)));
}

async function loadSkill(rows: readonly SkillRow[], powers: OfferPowers): Promise<KnownSkill> {
  const approved = rows.find(({ state }) => state === "approved");
  const address = (approved ?? rows[0])?.address;
  if (!address) throw new TypeError("A skill without versions");
  if (!approved) return { kind: "refused", address, refusal: refuseUnapproved(rows, address) };
  const verified = await verifyVersion(approved, powers);
  if (verified.ok) return { kind: "usable", version: verified };
  return { kind: "refused", address, refusal: refuseFrozen(approved, verified.problem) };
}

/** The grants are a part of it: another grant is another definition for the callers of the skill. */
export function digestOffer({ digest, grants }: Pick<SkillRow, "digest" | "grants">): Tool["digest"] {
  return digestOf([digest, grants]);
}

function offer(snapshot: CatalogSnapshot, skills: readonly KnownSkill[]): CatalogSnapshot {
  const tools = new Map(snapshot.tools);
  const refused = new Map<ToolAddress, OfferRefusal>();
  const usable = new Map(skills.flatMap((one) => (one.kind === "usable" ? [[one.version.row.address, one]] : [])));
  const seen: CatalogSnapshot = { ...snapshot, tools, refused };
  const settled = new Set<ToolAddress>();
  /** The skills that one calls come first. A grant has the digest of the skill that it is for, so none can call itself. */
  const settle = (one: KnownSkill): void => {
    if (one.kind === "refused") return void refused.set(one.address, one.refusal);
    const { row, grants } = one.version;
    if (settled.has(row.address)) return;
    settled.add(row.address);
    for (const { address } of grants) if (usable.has(address)) settle(usable.get(address) ?? one);
    const moved = findMoved(grants, seen);
    if (moved === undefined) tools.set(row.address, toTool(one.version, seen));
    else refused.set(row.address, refuseFrozen(row, moved));
  };
  for (const one of skills) if (one.kind === "refused") settle(one);
  for (const one of skills) settle(one);
  const own = [...tools].filter(([address]) => !snapshot.tools.has(address)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const digest = digestOf([snapshot.digest, own.map(([address, tool]) => [address, tool.digest]), [...refused.keys()]]);
  const namespaces = Object.freeze([...snapshot.namespaces, toNamespace(own.map(([address]) => address))]);
  return Object.freeze({ ...seen, digest, namespaces });
}

function toTool({ row, skill, grants }: SkillVersion, snapshot: CatalogSnapshot): Tool {
  const { description, input, output = null } = skill;
  return Object.freeze({
    address: row.address,
    origin: Object.freeze({ kind: "skill" as const, connector: connectorId(), remoteName: row.name }),
    summary: description.split("\n", 1).join("").slice(0, SUMMARY_CHARS).toWellFormed(),
    description,
    input,
    output,
    effect: strictestEffect(grants, snapshot),
    digest: digestOffer(row),
  });
}

function toNamespace(addresses: readonly string[]): Namespace {
  return Object.freeze({
    name: SKILLS,
    connector: connectorId(),
    summary: `${addresses.length} approved ${addresses.length === 1 ? "skill" : "skills"}`,
    tools: Object.freeze(addresses.map((address) => address.slice(SKILLS.length + 1))),
  });
}

function connectorId(): ConnectorId {
  const id = parseConnectorId(SKILLS);
  if (!id) throw new TypeError("The connector of skills is malformed");
  return id;
}

/** For a model that named a skill which may not run. */
function refuseUnapproved(rows: readonly SkillRow[], address: ToolAddress): OfferRefusal {
  const last = rows.at(-1);
  const state = last?.state ?? "unknown";
  const message = `${address} is not approved: its version ${last?.version ?? "?"} is ${state}`;
  const wait = `A person can review it with \`glovebox skills show ${last?.name ?? ""}\`; call the tools themselves until then`;
  return { code: "SKILL_NOT_APPROVED", message, hint: wait };
}

function refuseFrozen({ address, name, version }: SkillRow, problem: string): OfferRefusal {
  const message = `${address} (version ${version}) is frozen: ${problem}`;
  return {
    code: "SKILL_FROZEN",
    message,
    hint: `Call the tools themselves; an operator can look with \`glovebox skills show ${name}\``,
  };
}
