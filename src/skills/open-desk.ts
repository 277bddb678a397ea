/** What people do with skills: submit, review, approve, reject, revoke and roll back. No model can reach it. */

import type { AnalysisOptions } from "../analysis/index.ts";
import { defined, parseJson } from "../domain/index.ts";
import type { JsonObject, Principal } from "../domain/index.ts";
import { reviewProgram } from "./check-submission.ts";
import type { SkillReview } from "./check-submission.ts";
import { parseSkill } from "./parse-skill.ts";
import { parseApproval } from "./sign-version.ts";
import type { SkillApproval } from "./sign-version.ts";
import type { ParsedSkill, SkillFiles, SkillGrant, SkillRow } from "./skill.ts";
import { withLock } from "./verify-version.ts";
import type { SkillVersion } from "./verify-version.ts";
import { checkPerson, checkReviewer, decide, findVersion, frozen } from "./versions.ts";
import { getVersion, insert, listSkill, notFound, sign } from "./versions.ts";
import type { ChangePowers, ListedSkill, SkillChoice, SubmittedSkill } from "./versions.ts";

export interface DeskPowers extends ChangePowers {
  readonly analysis: AnalysisOptions;
}

export interface SkillDetails extends ListedSkill, Pick<SkillRow, "address" | "author" | "createdAt"> {
  readonly origin: JsonObject;
  readonly skill: ParsedSkill;
  readonly files: SkillFiles;
  readonly grants: readonly SkillGrant[];
  readonly approval?: SkillApproval;
  readonly decidedBy?: string;
  readonly note?: string;
  /** What the analysis says about its program, and what it can call. */
  readonly review: SkillReview;
  /** The version that is approved, or was last; absent for a first one. */
  readonly before?: SkillVersion;
}

type GrantList = readonly SkillGrant[];
type Approve = SkillChoice & { readonly without?: readonly string[] | undefined };
type Bind = (skill: Pick<ParsedSkill, "requests">) => Promise<GrantList>;

export interface SkillDesk {
  /** Stores a version that waits for review, if its program may run with these grants. */
  submit(submitted: SubmittedSkill, by: Principal): Promise<ListedSkill>;
  /** By name; of each the newest version first. */
  list(): Promise<readonly ListedSkill[]>;
  /** By default the newest version. */
  show(choice: SkillChoice): Promise<SkillDetails>;
  /** Signs exactly the version that waits, with the grants in `without` left out. */
  approve(choice: Approve, by: Principal): Promise<ListedSkill>;
  reject(choice: SkillChoice, reason: string, by: Principal): Promise<ListedSkill>;
  /** Also of a version that programs still run: their next call of it is refused. */
  revoke(choice: SkillChoice, by: Principal): Promise<ListedSkill>;
  /** Submits the files of an earlier approved version again: they need a review like any others. */
  rollback(choice: SkillChoice, by: Principal): Promise<ListedSkill>;
  /** Signs an approved version again for the tools as they are now. An operator has accepted their new definitions. */
  thaw(choice: SkillChoice, bind: Bind, by: Principal): Promise<ListedSkill>;
  /** The files of an approved version, with its lock. */
  exportFiles(choice: SkillChoice): Promise<{ readonly skill: ListedSkill; readonly files: SkillFiles }>;
  /** Verifies every approved version: signature, bytes and folder. */
  verify(): Promise<readonly ListedSkill[]>;
  /** Writes the approved files to the folder of skills again, over changed ones. */
  restore(choice: SkillChoice, by: Principal): Promise<ListedSkill>;
}

export function openSkillDesk(powers: DeskPowers): SkillDesk {
  const { store } = powers;
  return {
    async submit(submitted, by) {
      checkPerson(by);
      reviewProgram(parseSkill(submitted.files), submitted.grants, powers.analysis);
      return insert(submitted, by, powers);
    },
    async list() {
      const rows = (await store.list()).toSorted((a, b) => (a.name === b.name ? b.version - a.version : 0));
      return Promise.all(rows.map((row) => listSkill(row, powers)));
    },
    show: (choice) => show(choice, powers),
    async approve(choice, by) {
      checkReviewer(by);
      const row = await findVersion(choice, ["pending_review"], powers);
      const { grants } = await getVersion(row, powers);
      return sign(row, withoutRefused(grants, choice.without), { by, action: "approved" }, powers);
    },
    async reject(choice, reason, by) {
      checkReviewer(by);
      const row = await findVersion(choice, ["pending_review"], powers);
      return listSkill(await decide(row, "rejected", { by, note: reason, detail: { reason } }, powers), powers);
    },
    async revoke(choice, by) {
      checkReviewer(by);
      const states = choice.version === undefined ? (["approved"] as const) : (["approved", "retired"] as const);
      const row = await findVersion(choice, states, powers);
      const revoked = await decide(row, "revoked", { by }, powers);
      if (row.state === "approved") await powers.folder?.remove(row.name);
      return listSkill(revoked, powers);
    },
    rollback: (choice, by) => rollback(choice, by, powers),
    async thaw(choice, bind, by) {
      checkReviewer(by);
      const row = await findVersion(choice, ["approved"], powers);
      const { skill, grants } = await getVersion(row, powers);
      const kept = skill.requests.filter(({ tool }) => grants.some(({ address }) => address === tool));
      return sign(row, await bind({ requests: kept }), { by, action: "thawed" }, powers);
    },
    async exportFiles(choice) {
      const row = await findVersion(choice, ["approved"], powers);
      const skill = await listSkill(row, powers);
      if (skill.frozen !== undefined) throw frozen(row, skill.frozen);
      return { skill, files: withLock(await getVersion(row, powers)) };
    },
    async verify() {
      const rows = (await store.list()).filter(({ state }) => state === "approved");
      return Promise.all(rows.map((row) => listSkill(row, powers)));
    },
    restore: (choice, by) => restore(choice, by, powers),
  };
}

async function show(choice: SkillChoice, powers: DeskPowers): Promise<SkillDetails> {
  const rows = await powers.store.versions(choice.name);
  const version = choice.version ?? (choice.digest === undefined ? rows.at(-1)?.version : undefined);
  const row = await findVersion({ ...choice, version }, "any", powers);
  const before = rows.findLast((one) => one.version < row.version && parseApproval(one.signature));
  const { skill, files, grants } = await getVersion(row, powers);
  const { address, author, createdAt } = row;
  const origin: JsonObject = { ...Object(parseJson(row.origin)) };
  return {
    ...(await listSkill(row, powers)),
    address,
    author,
    createdAt,
    origin,
    skill,
    files,
    grants,
    review: reviewProgram(skill, grants, powers.analysis),
    ...defined({
      approval: parseApproval(row.signature),
      decidedBy: row.decidedBy ?? undefined,
      note: row.note ?? undefined,
      before: before && (await getVersion(before, powers)),
    }),
  };
}

async function rollback({ name, version }: SkillChoice, by: Principal, powers: DeskPowers): Promise<ListedSkill> {
  checkPerson(by);
  const earlier = (await powers.store.versions(name)).findLast(
    (row) => parseApproval(row.signature) && row.state !== "approved" && row.version === (version ?? row.version),
  );
  if (!earlier) throw notFound(`${name} has no earlier approved version to go back to`);
  const { files, grants } = await getVersion(earlier, powers);
  return insert({ files, grants, origin: { kind: "rollback", version: earlier.version } }, by, powers);
}

async function restore(choice: SkillChoice, by: Principal, powers: DeskPowers): Promise<ListedSkill> {
  checkReviewer(by);
  const { ledger, folder } = powers;
  const row = await findVersion(choice, ["approved"], powers);
  const { name, version } = row;
  const files = withLock(await getVersion(row, powers));
  await ledger.write({ actor: by.id, action: "skill.restored", subject: name, detail: { version } }, "flushed");
  await folder?.stage(name, version, files);
  await folder?.publish(name, version);
  await powers.onChanged();
  return listSkill(row, powers);
}

function withoutRefused(grants: GrantList, without: readonly string[] = []): GrantList {
  const unknown = without.find((tool) => !grants.some(({ address }) => address === tool));
  if (unknown !== undefined) throw notFound(`The skill does not ask for ${JSON.stringify(unknown)}`);
  return grants.filter(({ address }) => !without.includes(address));
}
