/** Connects skills with what a gateway or a command has: its settings, its records and its catalog. */

import type { AnalysisOptions, Timebox } from "../analysis/index.ts";
import type { CatalogSnapshot, Instant, Principal } from "../domain/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";
import { bindGrants } from "./check-submission.ts";
import { openApprovedFolder } from "./folder/approved-folder.ts";
import { openSkillOffers } from "./offer-skills.ts";
import { openSkillDesk } from "./open-desk.ts";
import type { DeskPowers, SkillDesk } from "./open-desk.ts";
import { parseSkill } from "./parse-skill.ts";
import type { SkillSigner } from "./sign-version.ts";
import { LOCK_FILE, SKILLS } from "./skill.ts";
import type { SkillFiles } from "./skill.ts";
import type { ListedSkill } from "./versions.ts";

export interface SkillRecords {
  readonly settings: {
    readonly skills: { readonly folder?: string };
    readonly analysis: Omit<AnalysisOptions, "limits" | "timebox">;
    readonly sandbox: { readonly limits: AnalysisOptions["limits"] };
    readonly server: { readonly auth: "local" | "required" };
  };
  readonly store: Pick<Store, "skills">;
  readonly ledger: Pick<Ledger, "write">;
  readonly signer: SkillSigner;
  readonly timebox: Timebox;
  readonly now: () => Instant;
  readonly onChanged: () => Promise<void>;
}

export function openSkillRecords({ settings, store, timebox, ...powers }: SkillRecords): DeskPowers & SkillDesk {
  const { skills, analysis, sandbox, server } = settings;
  const folder = skills.folder === undefined ? undefined : openApprovedFolder(skills.folder);
  const separates = server.auth === "required";
  const all = { ...powers, store: store.skills, folder, separates };
  const desk = { ...all, analysis: { ...analysis, limits: sandbox.limits, timebox } };
  return { ...desk, ...openSkillDesk(desk) };
}

interface TakesSnapshot {
  takeSnapshot(needed?: "all" | "some" | readonly string[]): Promise<CatalogSnapshot>;
}

/** The catalog with approved skills as one more namespace, and what needs the tools as they are now. */
export function offerSkills<Catalog extends TakesSnapshot>(upstreams: Catalog, records: SkillRecords) {
  const desk = openSkillRecords(records);
  const offers = openSkillOffers(desk);
  const takeSnapshot: TakesSnapshot["takeSnapshot"] = async (needed) => {
    const isNeeded = typeof needed === "object" && needed.includes(SKILLS);
    const all = isNeeded ? [...needed, ...(await offers.listNeeded())] : needed;
    return offers.addTo(await upstreams.takeSnapshot(all));
  };
  const bind = async (skill: Parameters<typeof bindGrants>[0]) => {
    const needed = skill.requests.map(({ tool }) => tool.slice(0, tool.indexOf(".")));
    return bindGrants(skill, await takeSnapshot([...new Set(needed)]));
  };
  const submission = {
    submitSkill: async (files: SkillFiles, by: Principal): Promise<ListedSkill> => {
      const grants = await bind(parseSkill(files));
      return desk.submit({ files, grants, origin: { kind: files.has(LOCK_FILE) ? "export" : "folder" } }, by);
    },
    thawSkill: (name: string, by: Principal): Promise<ListedSkill> => desk.thaw({ name }, bind, by),
  };
  return { catalog: { ...upstreams, takeSnapshot }, open: offers.open, submission };
}
