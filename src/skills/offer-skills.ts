/** Offers approved skills to programs as the namespace `skills`, and opens one for a call after checking it again. */

import { GloveboxError, parseConnectorId } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, Namespace } from "../domain/index.ts";
import type { Tool, ToolAddress } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { digestOf } from "../text/index.ts";
import { findMoved, findTool, restrictSnapshot, strictestEffect } from "./judge-grants.ts";
import { describePower, toSkillPowers } from "./powers.ts";
import type { SkillPower } from "./powers.ts";
import { parseApproval } from "./sign-version.ts";
import { SKILLS } from "./skill.ts";
import type { SkillFiles, SkillRow } from "./skill.ts";
import { verifyVersion, withLock } from "./verify-version.ts";
import type { SkillVersion, VersionPowers } from "./verify-version.ts";
import { findNearest } from "./versions.ts";

export interface OfferPowers extends VersionPowers {
  readonly store: Pick<Store["skills"], "file" | "list" | "revision" | "versions">;
  /** Says which granted host or secret is no longer there, as the end of a sentence. */
  readonly findMissing: (granted: readonly SkillPower[]) => Promise<string | undefined>;
}

export interface SkillOffers {
  /** Returns the same object for the same snapshot until a skill changes. */
  addTo(snapshot: CatalogSnapshot): Promise<CatalogSnapshot>;
  /** The servers whose tools approved skills may call, by their names in programs. */
  listNeeded(): Promise<readonly string[]>;
  /** The files with the lock. Rejects as `open`. */
  readonly files: (tool: Tool, snapshot: CatalogSnapshot) => Promise<SkillFiles>;
  /**
   * The snapshot in which skills have the versions that a program began with, those that they call among them. One that
   * was revoked is refused in it.
   */
  readonly keep: (snapshot: CatalogSnapshot, began: ReadonlyMap<string, Tool["digest"]>) => Promise<CatalogSnapshot>;
  /** Rejects with SKILL_NOT_APPROVED or SKILL_FROZEN unless exactly this version may run now. */
  readonly open: (
    tool: Tool,
    snapshot: CatalogSnapshot,
  ) => Promise<{
    readonly source: string;
    readonly snapshot: CatalogSnapshot;
    readonly powers?: ReturnType<typeof toSkillPowers>;
  }>;
}

type OfferRefusal = NonNullable<ReturnType<NonNullable<CatalogSnapshot["refused"]>["get"]>>;

/** What is known about one skill until something changes in the store. */
type KnownSkill =
  | { readonly kind: "usable"; readonly version: SkillVersion; readonly rows: readonly SkillRow[] }
  | { readonly kind: "refused"; readonly address: ToolAddress; readonly refusal: OfferRefusal };

const RUNNING: ReadonlySet<SkillRow["state"]> = new Set(["approved", "retired"]);
const SUMMARY_CHARS = 160;

export function openSkillOffers(powers: OfferPowers): SkillOffers {
  const { store } = powers;
  let loaded: { readonly revision: string; readonly skills: Promise<readonly KnownSkill[]> } | undefined;
  let offers = new WeakMap<CatalogSnapshot, CatalogSnapshot>();

  const load = async (): Promise<readonly KnownSkill[]> => {
    const revision = (await Promise.all([store.revision(), powers.failing.read()])).join(" ");
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
    if (!verified.ok) throw toError(refuseFrozen(row, verified.problem, rows));
    if (moved !== undefined) throw toError(refuseFrozen(row, moved, rows));
    const missing = await powers.findMissing(verified.powers);
    if (missing !== undefined) throw toError(refuseFrozen(row, missing, rows));
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
    keep: (snapshot, began) => keepVersions(snapshot, began, powers),
    async open(tool, snapshot) {
      const { skill, grants, powers: granted } = await find(tool, snapshot);
      return { source: skill.program, snapshot: restrictSnapshot(snapshot, grants), powers: toSkillPowers(granted) };
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
  const newer = findNewer(approved, rows);
  if (newer) return { kind: "refused", address, refusal: refuseFrozen(approved, describeNewer(newer), rows) };
  const verified = await verifyVersion(approved, powers);
  if (verified.ok) return { kind: "usable", version: verified, rows };
  return { kind: "refused", address, refusal: refuseFrozen(approved, verified.problem, rows) };
}

/** The last approval counts: a version that was replaced does not come back without a review. */
function findNewer(row: SkillRow, rows: readonly SkillRow[]): SkillRow | undefined {
  const timeOf = (one: SkillRow): number => parseApproval(one.signature)?.at ?? -1;
  return rows.find((one) => timeOf(one) > timeOf(row) || (timeOf(one) === timeOf(row) && one.version > row.version));
}

function describeNewer({ version }: SkillRow): string {
  return `version ${version} was approved after it`;
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
    else refused.set(row.address, refuseFrozen(row, moved, one.rows));
  };
  for (const one of skills) if (one.kind === "refused") settle(one);
  for (const one of skills) settle(one);
  const own = [...tools].filter(([address]) => !snapshot.tools.has(address)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const digest = digestOf([snapshot.digest, own.map(([address, tool]) => [address, tool.digest]), [...refused.keys()]]);
  const namespaces = Object.freeze([...snapshot.namespaces, toNamespace(own.map(([address]) => address))]);
  return Object.freeze({ ...seen, digest, namespaces });
}

async function keepVersions(
  snapshot: CatalogSnapshot,
  began: ReadonlyMap<string, Tool["digest"]>,
  powers: OfferPowers,
): Promise<CatalogSnapshot> {
  const [tools, refused] = [new Map(snapshot.tools), new Map(snapshot.refused)];
  const rows = await powers.store.list();
  const kept: CatalogSnapshot = { ...snapshot, tools, refused };
  const keep = async (address: string, digest: Tool["digest"]): Promise<void> => {
    const row = rows.find((one) => one.address === address && digestOffer(one) === digest);
    if (!row || findTool(kept, row.address)?.digest === digest) return;
    tools.delete(row.address);
    if (!RUNNING.has(row.state)) return void refused.set(row.address, refuseUnapproved([row], row.address));
    const verified = await verifyVersion(row, powers);
    if (!verified.ok) return void refused.set(row.address, refuseFrozen(row, verified.problem, [row]));
    for (const grant of verified.grants) await keep(grant.address, grant.definition);
    refused.delete(row.address);
    tools.set(row.address, toTool(verified, kept));
  };
  for (const [address, digest] of began) await keep(address, digest);
  return Object.freeze(kept);
}

function toTool({ row, skill, grants, powers }: SkillVersion, snapshot: CatalogSnapshot): Tool {
  const { input, output = null } = skill;
  // At each use it is stated what goes beyond the caller.
  const beyond = powers.map((power) => `${power.kind} ${describePower(power)}`);
  const more = beyond.length === 0 ? "" : `\n\nA reviewer granted it beyond its caller: ${beyond.join("; ")}.`;
  const description = `${skill.description}${more}`;
  return Object.freeze({
    address: row.address,
    origin: Object.freeze({ kind: "skill" as const, connector: connectorId(), remoteName: row.name }),
    summary: description.split("\n", 1).join("").slice(0, SUMMARY_CHARS).toWellFormed(),
    description,
    input,
    output,
    effect: strictestEffect(grants, snapshot, powers.length > 0 ? "write" : "read"),
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

/** Offers the version that was approved before it. */
function refuseFrozen({ address, name, version }: SkillRow, problem: string, rows: readonly SkillRow[]): OfferRefusal {
  const message = `${address} (version ${version}) is frozen: ${problem}`;
  const nearest = findNearest(rows, version);
  const back = nearest === undefined ? "" : `, or go back with \`glovebox skills rollback ${name} --to ${nearest}\``;
  const hint = `Call the tools themselves; an operator can look with \`glovebox skills show ${name}\`${back}`;
  return { code: "SKILL_FROZEN", message, hint };
}
