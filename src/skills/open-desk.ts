/** What people do with skills: submit, review, approve, reject, revoke, retire and roll back. No model can reach it. */

import { GloveboxError, defined } from "../domain/index.ts";
import type { Principal } from "../domain/index.ts";
import { checkProgram } from "./check-submission.ts";
import { parseSkill } from "./parse-skill.ts";
import { toPowerId } from "./powers.ts";
import { toGrantId } from "./review/describe-changes.ts";
import type { SkillReview } from "./review/review.ts";
import { findFailedTest, requirePassingTests, reviewVersion } from "./review-version.ts";
import type { ReviewPowers } from "./review-version.ts";
import type { SkillUsageDesk } from "./open-usage.ts";
import { eraseSignature, findForgery, parseApproval } from "./sign-version.ts";
import type { ParsedSkill, SkillFiles, SkillGrant, SkillRow, SkillState } from "./skill.ts";
import { readVersion, withLock } from "./verify-version.ts";
import type { SkillVersion } from "./verify-version.ts";
import { checkOperator, checkPerson, checkReviewer, decide, findVersion, frozen } from "./versions.ts";
import { getVersion, insert, listSkill, notFound, sign } from "./versions.ts";
import type { ListedSkill, SkillChoice, SubmittedSkill } from "./versions.ts";

export interface DeskPowers extends ReviewPowers, SkillUsageDesk {}

type GrantList = readonly SkillGrant[];

export interface Approve extends SkillChoice {
  /** Grants that are refused, by id or by the name of the tool. */
  readonly without?: readonly string[] | undefined;
  /** Powers that are granted, by id: those go beyond the caller, so none is granted by default. */
  readonly grant?: readonly string[] | undefined;
  /** Each grant by its id, decided one by one: then one that is missing is an error. */
  readonly grants?: Readonly<Record<string, boolean>> | undefined;
  readonly note?: string | undefined;
}

type Bind = (skill: Pick<ParsedSkill, "requests">) => Promise<GrantList>;

export interface SkillDesk extends SkillUsageDesk {
  /** Stores a version that waits for review, if its program may run with these grants. */
  submit(submitted: SubmittedSkill, by: Principal): Promise<ListedSkill>;
  /** By name; of each the newest version first. */
  list(): Promise<readonly ListedSkill[]>;
  /** By default the newest version. */
  show(choice: SkillChoice): Promise<SkillReview>;
  /** Signs exactly the version that waits, if its tests pass with what is granted. */
  approve(choice: Approve, by: Principal): Promise<ListedSkill>;
  reject(choice: SkillChoice, reason: string, by: Principal): Promise<ListedSkill>;
  /** Also of a version that programs still run: their next call of it is refused. */
  revoke(choice: SkillChoice, by: Principal, reason?: string): Promise<ListedSkill>;
  /** Takes an approved version out of use. Programs that run keep it, unlike one that is revoked. */
  retire(choice: SkillChoice, by: Principal, reason?: string): Promise<ListedSkill>;
  /** Submits the files of an earlier approved version again: they need a review like any others. */
  rollback(choice: SkillChoice, by: Principal): Promise<ListedSkill>;
  /** Signs an approved version again for the tools as they are now. An operator has accepted their new definitions. */
  thaw(choice: SkillChoice, bind: Bind, by: Principal): Promise<ListedSkill>;
  /** The files of an approved version, with its lock. */
  exportFiles(choice: SkillChoice): Promise<{ readonly skill: ListedSkill; readonly files: SkillFiles }>;
  /** Verifies every approved version: signature, bytes, folder and tests. One whose tests fail is frozen from then on. */
  verify(): Promise<readonly ListedSkill[]>;
  /** Signs from now on with another key. Approvals that are valid now stay valid. */
  rotateKey(by: Principal): Promise<{ readonly from: string; readonly to: string }>;
  /** Writes the approved files to the folder of skills again, over changed ones. */
  restore(choice: SkillChoice, by: Principal): Promise<ListedSkill>;
}

export function openSkillDesk(powers: DeskPowers): SkillDesk {
  return {
    usage: () => powers.usage(),
    async submit(submitted, by) {
      checkPerson(by);
      const skill = parseSkill(submitted.files);
      checkProgram(skill, submitted.grants, powers.analysis);
      const wanted = skill.wants.map(({ power }) => power);
      await requirePassingTests({ ...skill, grants: submitted.grants, powers: wanted }, powers);
      return insert(submitted, by, powers);
    },
    async list() {
      const rows = (await powers.store.list()).toSorted((a, b) => (a.name === b.name ? b.version - a.version : 0));
      return Promise.all(rows.map((row) => listSkill(row, powers)));
    },
    show: (choice) => show(choice, powers),
    async approve(choice, by) {
      checkReviewer(by);
      const row = await findVersion(choice, ["pending_review"], powers);
      const version = await getVersion(row, powers);
      const granted = decideGrants(version, choice);
      await requirePassingTests({ ...version.skill, ...granted }, powers);
      return sign(row, granted, { by, action: "approved", note: choice.note }, powers);
    },
    async reject(choice, reason, by) {
      checkReviewer(by);
      const row = await findVersion(choice, ["pending_review"], powers);
      return listSkill(await decide(row, "rejected", { by, note: reason, detail: { reason } }, powers), powers);
    },
    async revoke(choice, by, reason) {
      const states = choice.version === undefined ? (["approved"] as const) : (["approved", "retired"] as const);
      return withdraw(choice, { by, states, to: "revoked", reason }, powers);
    },
    retire: (choice, by, reason) => withdraw(choice, { by, states: ["approved"], to: "retired", reason }, powers),
    rollback: (choice, by) => rollback(choice, by, powers),
    async thaw(choice, bind, by) {
      checkReviewer(by);
      const row = await findVersion(choice, ["approved"], powers);
      const { skill, grants, powers: kept } = await getVersion(row, powers);
      const tools = skill.requests.filter(({ tool }) => grants.some(({ address }) => address === tool));
      const bound = { grants: await bind({ requests: tools }), powers: kept };
      await requirePassingTests({ ...skill, ...bound }, powers);
      await powers.failing.set(row, undefined);
      return sign(row, bound, { by, action: "thawed" }, powers);
    },
    async exportFiles(choice) {
      const row = await findVersion(choice, ["approved"], powers);
      const skill = await listSkill(row, powers);
      if (skill.frozen !== undefined) throw frozen(row, skill.frozen);
      return { skill, files: withLock(await getVersion(row, powers)) };
    },
    async verify() {
      const rows = (await powers.store.list()).filter(({ state }) => state === "approved");
      for (const row of rows) await verifyTests(row, powers);
      return Promise.all(rows.map((row) => listSkill(row, powers)));
    },
    rotateKey: (by) => rotateKey(by, powers),
    restore: (choice, by) => restore(choice, by, powers),
  };
}

async function show(choice: SkillChoice, powers: DeskPowers): Promise<SkillReview> {
  const rows = await powers.store.versions(choice.name);
  const version = choice.version ?? (choice.digest === undefined ? rows.at(-1)?.version : undefined);
  return reviewVersion(await findVersion({ ...choice, version }, "any", powers), powers);
}

interface Withdrawal {
  readonly by: Principal;
  readonly states: readonly SkillState[];
  readonly to: "revoked" | "retired";
  readonly reason: string | undefined;
}

async function withdraw(choice: SkillChoice, how: Withdrawal, powers: DeskPowers): Promise<ListedSkill> {
  const { by, states, to, reason } = how;
  checkReviewer(by);
  const row = await findVersion(choice, states, powers);
  const why = reason === undefined ? {} : { note: reason, detail: { reason } };
  const signature = to === "revoked" ? eraseSignature(row.signature) : undefined;
  const withdrawn = await decide(row, to, { by, ...why, ...defined({ signature }) }, powers);
  if (row.state === "approved") await powers.folder?.remove(row.name);
  return listSkill(withdrawn, powers);
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

async function verifyTests(row: SkillRow, powers: DeskPowers): Promise<void> {
  const version = await readVersion(row, powers);
  if (!version.ok) return;
  const problem = await findFailedTest({ ...version.skill, ...version }, powers);
  const isNews = await powers.failing.set(row, problem);
  const { name, version: number } = row;
  const detail = { version: number, problem: problem ?? null };
  const action = problem === undefined ? "skill.tests_passed" : "skill.frozen";
  if (isNews) await powers.ledger.write({ actor: "gateway", action, subject: name, detail });
}

async function rotateKey(by: Principal, powers: DeskPowers) {
  checkOperator(by);
  const { store, keys, ledger } = powers;
  const rows = await store.list();
  const valid = await Promise.all(
    rows.map(async (row) => (await findForgery(row, keys)) === undefined && row.signature),
  );
  const signatures = valid.flatMap((text) => (text ? (parseApproval(text)?.signature ?? []) : []));
  const rotated = await keys.rotate(signatures);
  const detail = { ...rotated, approvals: signatures.length };
  await ledger.write({ actor: by.id, action: "skill.key_rotated", subject: "skills", detail }, "flushed");
  return rotated;
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

type Granted = Pick<SkillVersion, "grants" | "powers">;

function decideGrants({ grants, powers }: Granted, { without = [], grant = [], grants: decided }: Approve): Granted {
  const tools = new Map(grants.map((one) => [toGrantId(one.address), one]));
  const wanted = new Map(powers.map((power) => [toPowerId(power), power]));
  const ids = [...tools.keys(), ...wanted.keys()];
  const isNamed = (name: string): boolean => ids.includes(name) || ids.includes(toGrantId(name));
  const unknown = [...without, ...grant, ...Object.keys(decided ?? {})].find((name) => !isNamed(name));
  if (unknown !== undefined) throw notFound(`The skill does not ask for ${JSON.stringify(unknown)}`);
  const isRefused = (id: string): boolean => without.some((name) => id === name || id === toGrantId(name));
  const isDecided = (id: string): boolean =>
    decided ? decided[id] !== undefined : tools.has(id) || grant.includes(id) || isRefused(id);
  const open = ids.find((id) => !isDecided(id));
  if (open !== undefined) throw undecided(open);
  const isGranted = ([id]: readonly [string, unknown]): boolean => !isRefused(id) && decided?.[id] !== false;
  return {
    grants: [...tools].filter(isGranted).map(([, one]) => one),
    powers: [...wanted].filter(isGranted).map(([, power]) => power),
  };
}

function undecided(id: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `The grant ${id} is not decided`, {
    hint: `Hosts and secrets go beyond the caller: decide with \`--grant ${id}\` or \`--without ${id}\``,
  });
}
