/** Connects skills with what a gateway or a command has: its settings, its records and its catalog. */

import type { AnalysisOptions, Timebox } from "../analysis/index.ts";
import { defined } from "../domain/index.ts";
import type { CatalogSnapshot, Instant, Principal, Tool } from "../domain/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";
import { bindGrants } from "./check-submission.ts";
import { openSkillDrafts } from "./open-drafts.ts";
import type { DraftPowers, SkillDrafts } from "./open-drafts.ts";
import { openApprovedFolder } from "./folder/approved-folder.ts";
import { openSkillOffers } from "./offer-skills.ts";
import { openSkillUsage } from "./open-usage.ts";
import { openSkillDesk } from "./open-desk.ts";
import type { DeskPowers, SkillDesk } from "./open-desk.ts";
import { parseSkill, toAddress } from "./parse-skill.ts";
import { openFailingTests } from "./failing-tests.ts";
import { openKeyring } from "./keys/open-keyring.ts";
import type { SkillKeyPowers } from "./keys/open-keyring.ts";
import { LOCK_FILE, SKILLS } from "./skill.ts";
import { findMissing } from "./powers.ts";
import type { PowerPlaces } from "./powers.ts";
import type { RunTests, SkillFiles } from "./skill.ts";
import { findRefusal, markFrozen } from "./versions.ts";
import { describeImport } from "./verify-folder.ts";
import type { ListedSkill } from "./versions.ts";

export interface SkillRecords {
  readonly settings: {
    readonly skills: { readonly folder?: string; readonly overMcp?: boolean };
    readonly analysis: Omit<AnalysisOptions, "limits" | "timebox">;
    readonly sandbox: { readonly limits: AnalysisOptions["limits"] };
    readonly server: { readonly auth: "local" | "required" };
    readonly egress: { readonly networkPolicy?: PowerPlaces["ceiling"] };
  };
  readonly store: Pick<Store, "ledger" | "meta" | "skills">;
  readonly ledger: Pick<Ledger, "write">;
  readonly signer: SkillKeyPowers["root"];
  readonly vault: { readonly openSeal: SkillKeyPowers["openSeal"]; readonly list: PowerPlaces["listSecrets"] };
  readonly random: SkillKeyPowers["random"];
  readonly timebox: Timebox;
  readonly runTests: RunTests;
  readonly readRun: DraftPowers["readRun"];
  readonly listPrograms: DraftPowers["listPrograms"];
  readonly now: () => Instant;
  readonly onChanged: () => Promise<void>;
}

export function openSkillRecords(records: SkillRecords): DeskPowers & SkillDesk {
  const powers = toPowers(records);
  return { ...powers, ...openSkillDesk(powers) };
}

function toPowers({ settings, store, timebox, signer, vault, random, ...powers }: SkillRecords): DeskPowers {
  const { skills, analysis, sandbox, server } = settings;
  const folder = skills.folder === undefined ? undefined : openApprovedFolder(skills.folder);
  const separates = server.auth === "required";
  const options = { ...analysis, limits: sandbox.limits, timebox };
  const openSeal = () => vault.openSeal();
  const keys = openKeyring({ root: signer, random, openSeal, values: store.meta, now: powers.now });
  const failing = openFailingTests(store.meta);
  const usage = openSkillUsage(store, powers.now);
  return { ...powers, ...usage, keys, failing, store: store.skills, folder, separates, analysis: options };
}

interface TakesSnapshot {
  takeSnapshot(needed?: "all" | "some" | readonly string[]): Promise<CatalogSnapshot>;
}

/** Everything that people do with skills in a gateway, which knows the tools as they are now. */
export interface GatewaySkills extends Omit<SkillDesk, "submit" | "thaw"> {
  /** Stores a new version, for the tools as they are now. */
  submit(files: SkillFiles, by: Principal): Promise<ListedSkill>;
  /** Approves a frozen skill again, for the tools as they are now. */
  thaw(name: string, by: Principal): Promise<ListedSkill>;
  list(): Promise<readonly (ListedSkill & { readonly summary?: string })[]>;
  /** Another value after every change. */
  revision(): Promise<number>;
  /** What people and programs propose. */
  readonly drafts: SkillDrafts;
  /** Why this person may not approve the version; `undefined` if they may. */
  findRefusal(version: Pick<ListedSkill, "author" | "name" | "version">, by: Principal): string | undefined;
}

/** Tells the operator once why a skill is frozen: in the ledger, which feeds exports and alerts. */
function createFrozenNotice({ ledger }: Pick<SkillRecords, "ledger">): (snapshot: CatalogSnapshot) => void {
  const known = new Map<string, string>();
  let seen: CatalogSnapshot | undefined;
  return (snapshot) => {
    if (snapshot === seen) return;
    seen = snapshot;
    const all = [...(snapshot.refused ?? [])].filter(([, { code }]) => code === "SKILL_FROZEN");
    const frozen = new Map(all.map(([address, refusal]): [string, typeof refusal] => [address, refusal]));
    for (const address of known.keys()) if (!frozen.has(address)) known.delete(address);
    for (const [address, { message }] of frozen) {
      if (known.get(address) === message) continue;
      known.set(address, message);
      const entry = { actor: "gateway", action: "skill.frozen", subject: address, detail: { problem: message } };
      // The next snapshot tries again.
      void ledger.write(entry).catch(() => known.delete(address));
    }
  };
}

/** The catalog with approved skills as one more namespace, and what needs the tools as they are now. */
export function offerSkills<Catalog extends TakesSnapshot>(upstreams: Catalog, records: SkillRecords) {
  const powers = toPowers(records);
  const places = { listSecrets: () => records.vault.list(), ceiling: records.settings.egress.networkPolicy };
  const noticeFrozen = createFrozenNotice(records);
  const [desk, offers] = [
    openSkillDesk(powers),
    openSkillOffers({ ...powers, findMissing: (granted) => findMissing(granted, places) }),
  ];
  const takeSnapshot: TakesSnapshot["takeSnapshot"] = async (needed) => {
    const isNeeded = typeof needed === "object" && needed.includes(SKILLS);
    const all = isNeeded ? [...needed, ...(await offers.listNeeded())] : needed;
    const snapshot = await offers.addTo(await upstreams.takeSnapshot(all));
    noticeFrozen(snapshot);
    return snapshot;
  };
  const bind = async (skill: Parameters<typeof bindGrants>[0]) => {
    const needed = skill.requests.map(({ tool }) => tool.slice(0, tool.indexOf(".")));
    return bindGrants(skill, await takeSnapshot([...new Set(needed)]));
  };
  /** A skill whose tools moved is frozen, which the records alone do not show. */
  const mark = async <Listed extends ListedSkill>(one: Listed, { refused }: CatalogSnapshot): Promise<Listed> => {
    const refusal =
      one.state === "approved" && one.frozen === undefined ? refused?.get(toAddress(one.name)) : undefined;
    return refusal ? markFrozen(one, refusal.message, powers) : one;
  };
  const skills: GatewaySkills = {
    ...desk,
    async list() {
      const [listed, snapshot] = await Promise.all([desk.list(), takeSnapshot("some")]);
      return Promise.all(
        listed.map(async (one) => {
          const tool = one.state === "approved" ? snapshot.tools.get(toAddress(one.name)) : undefined;
          return { ...(await mark(one, snapshot)), ...defined({ summary: tool?.summary }) };
        }),
      );
    },
    show: async (choice) => mark(await desk.show(choice), await takeSnapshot("some")),
    revision: () => powers.store.revision(),
    drafts: openSkillDrafts({ ...records, ...powers, bind }),
    findRefusal: (version, by) => findRefusal(version, by, powers.separates),
    submit: async (files, by) => {
      const grants = await bind(parseSkill(files));
      const origin = files.has(LOCK_FILE) ? await describeImport(files) : { kind: "folder" };
      return desk.submit({ files, grants, origin }, by);
    },
    thaw: (name, by) => desk.thaw({ name }, bind, by),
  };
  const files = async (tool: Tool) => offers.files(tool, await takeSnapshot("some"));
  const { overMcp } = records.settings.skills;
  return {
    catalog: { ...upstreams, takeSnapshot },
    open: offers.open,
    keep: offers.keep,
    door: skills,
    files: overMcp ? files : undefined,
  };
}
