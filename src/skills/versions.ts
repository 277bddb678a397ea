/** Versions of skills for people who decide about them: finding one, changing its state, and signing it. */

import { GloveboxError, defined, hasRole } from "../domain/index.ts";
import type { Instant, JsonObject, Principal, PrincipalId } from "../domain/index.ts";
import type { Ledger, LedgerEntry } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";
import { parseSkill } from "./parse-skill.ts";
import { parseApproval, signVersion } from "./sign-version.ts";
import { digestFiles, digestSkill, withoutLock } from "./skill.ts";
import type { SkillFiles, SkillGrant, SkillRow, SkillState } from "./skill.ts";
import { readVersion, verifyVersion, withLock } from "./verify-version.ts";
import type { SkillVersion, VersionPowers } from "./verify-version.ts";

export interface ChangePowers extends VersionPowers {
  readonly store: Store["skills"];
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  /** Called after every decision, so that running gateways notice it. */
  readonly onChanged: () => Promise<void>;
  /** True where people log in: then authors do not approve their own work. */
  readonly separates: boolean;
}

/** One version, as lists show it. */
export interface ListedSkill extends Pick<SkillRow, "name" | "version" | "state" | "digest" | "author" | "createdAt"> {
  /** Why an approved version cannot be called; absent if it can. */
  readonly frozen?: string;
  /** The newest earlier version that was approved, which `rollback` submits for review; of a frozen one only. */
  readonly nearest?: number;
}

/** Which version a decision is about. Without a number or a digest there must be only one that it can be about. */
export interface SkillChoice {
  readonly name: string;
  readonly version?: number | undefined;
  readonly digest?: string | undefined;
}

export interface SubmittedSkill {
  readonly files: SkillFiles;
  readonly grants: readonly SkillGrant[];
  readonly origin: JsonObject;
  /** By default who submits it. */
  readonly author?: PrincipalId;
}

interface Decided {
  readonly by: Principal;
  /** By default the state. */
  readonly action?: string;
  readonly at?: Instant;
  readonly note?: string;
  readonly grants?: string;
  readonly signature?: string;
  readonly detail?: JsonObject;
}

export async function listSkill(row: SkillRow, powers: VersionPowers & NearestPowers): Promise<ListedSkill> {
  const { name, version, state, digest, author, createdAt } = row;
  const listed = { name, version, state, digest, author, createdAt };
  const verified = state === "approved" ? await verifyVersion(row, powers) : undefined;
  return verified?.ok === false ? markFrozen(listed, verified.problem, powers) : listed;
}

export type NearestPowers = { readonly store: Pick<Store["skills"], "versions"> };

export async function markFrozen<Listed extends ListedSkill>(
  listed: Listed,
  frozen: string,
  { store }: NearestPowers,
): Promise<Listed> {
  const nearest = findNearest(await store.versions(listed.name), listed.version);
  return { ...listed, frozen, ...defined({ nearest }) };
}

/** The newest approved version before this one that was not revoked. */
export function findNearest(rows: readonly SkillRow[], version: number): number | undefined {
  const isUsable = (row: SkillRow): boolean => row.version < version && row.state === "retired";
  return rows.findLast((row) => isUsable(row) && parseApproval(row.signature))?.version;
}

/** Rejects unless exactly one version fits. */
export async function findVersion(
  { name, version, digest }: SkillChoice,
  states: readonly SkillState[] | "any",
  { store }: Pick<ChangePowers, "store">,
): Promise<SkillRow> {
  const rows = await store.versions(name);
  const last = rows.at(-1);
  if (!last) throw notFound(`The skill ${JSON.stringify(name)} does not exist`);
  const wanted = rows.filter(
    (row) =>
      (version === undefined || row.version === version) &&
      (digest === undefined || row.digest === digest) &&
      (states === "any" || states.includes(row.state)),
  );
  const [only, another] = wanted;
  if (only && !another) return only;
  const named = wanted.map((row) => `--number ${row.version} --digest ${row.digest}`).join(", ");
  if (only) throw conflict(`${name} has more than one such version`, `Name the one that you reviewed: ${named}`);
  const which = states === "any" ? "such a version" : `a version that is ${states.join(" or ")}`;
  throw notFound(`${name} does not have ${which}; its version ${last.version} is ${last.state}`);
}

export async function getVersion(row: SkillRow, powers: Pick<VersionPowers, "store">): Promise<SkillVersion> {
  const found = await readVersion(row, powers);
  if (found.ok) return found;
  throw frozen(row, found.problem);
}

/** Records first: a crash in between leaves the record of a decision without effect, never the reverse. */
export async function decide(
  row: SkillRow,
  state: SkillState,
  change: Decided,
  powers: ChangePowers,
): Promise<SkillRow> {
  const { store, ledger, now } = powers;
  const { name, version, digest } = row;
  const { by, action = state, detail = {}, ...more } = change;
  const record = (entry: Pick<LedgerEntry, "action" | "detail">): Promise<unknown> =>
    ledger.write({ actor: by.id, subject: name, ...entry }, "flushed");
  const known = { version, digest, ...detail };
  await record({ action: `skill.${action}`, detail: known });
  if (!(await store.change({ row, state, by: by.id, at: now(), ...more }))) {
    await record({ action: "skill.unchanged", detail: { ...known, wanted: action } });
    throw conflict(`Another person decided about version ${version} of ${name} meanwhile`, "Look at it again");
  }
  await powers.onChanged();
  return (await store.versions(name)).find((one) => one.version === version) ?? row;
}

interface Signing {
  readonly by: Principal;
  readonly action: "approved" | "thawed";
  readonly note?: string | undefined;
}

/** Staged first and published last: a process that dies in between leaves the folder to the next one that looks. */
export async function sign(
  row: SkillRow,
  granted: Pick<SkillVersion, "grants" | "powers">,
  { by, action, note }: Signing,
  powers: ChangePowers,
): Promise<ListedSkill> {
  const { folder, keys, now, separates } = powers;
  const selfReviewed = isAuthor(row, by);
  const refusal = findRefusal(row, by, separates);
  if (refusal !== undefined) throw denied(refusal);
  const { files } = await getVersion(row, powers);
  const [at, grants] = [now(), JSON.stringify([...granted.grants, ...granted.powers])];
  const approval = await signVersion({ ...row, grants }, { reviewer: by.id, at, selfReviewed }, keys);
  const signature = JSON.stringify(approval);
  await folder?.stage(row.name, row.version, withLock({ row: { ...row, grants, signature }, files }));
  const detail = { selfReviewed, key: approval.key };
  const change = { by, action, at, grants, signature, detail, ...defined({ note }) };
  const signed = await decide(row, "approved", change, powers);
  await folder?.publish(row.name, row.version);
  return listSkill(signed, powers);
}

/** Returns the version that waits already if it is the same. */
export async function insert(
  { files: all, grants: granted, origin, author }: SubmittedSkill,
  by: Principal,
  powers: ChangePowers,
): Promise<ListedSkill> {
  const { store, ledger, now } = powers;
  const files = withoutLock(all);
  const { name, address, wants } = parseSkill(files);
  const digests = digestFiles(files);
  const grants = JSON.stringify([...granted, ...wants.map(({ power }) => power)]);
  const digest = digestSkill(digests);
  const waiting = (await store.versions(name)).find((row) => row.state === "pending_review" && row.digest === digest);
  if (waiting?.grants === grants) return listSkill(waiting, powers);
  await ledger.write({ actor: by.id, action: "skill.submitted", subject: name, detail: { digest, origin } }, "flushed");
  const bodies = new Map([...files].flatMap(([path, body]) => (digests[path] ? [[digests[path], body]] : [])));
  const content = { name, address, digest, bodies, grants, files: JSON.stringify(digests) };
  const version = { origin: JSON.stringify(origin), state: "pending_review", createdAt: now() } as const;
  const inserted = await store.insert({ ...content, ...version, author: author ?? by.id });
  if (inserted.kind === "inserted") return listSkill(inserted.row, powers);
  throw conflict(`Another skill is ${address} in programs already`, "Choose another name in SKILL.md");
}

/** The person behind the author counts as the author. */
function isAuthor({ author }: Pick<SkillRow, "author">, { id, person = id }: Principal): boolean {
  return author === id || author === person;
}

/** Why this person may not approve the version; `undefined` if they may. */
export function findRefusal(row: Pick<SkillRow, "author" | "name" | "version">, by: Principal, separates: boolean) {
  if (!hasRole(by, "reviewer", "operator")) return `${by.id} (kind: ${by.kind}) cannot decide about a skill`;
  if (separates && isAuthor(row, by)) return `${by.id} wrote version ${row.version} of ${row.name}`;
  return undefined;
}

export function checkPerson({ kind, id }: Principal): void {
  if (kind !== "person") throw denied(`${id} (kind: ${kind}) is not a person`);
}

export function checkReviewer(by: Principal): void {
  if (!hasRole(by, "reviewer", "operator")) throw denied(`${by.id} (kind: ${by.kind}) cannot decide about a skill`);
}

export function checkOperator(by: Principal): void {
  if (!hasRole(by, "operator")) throw denied(`${by.id} (kind: ${by.kind}) is not an operator`);
}

export function frozen({ name, version }: SkillRow, problem: string): GloveboxError {
  return new GloveboxError("SKILL_FROZEN", `${name} version ${version} is frozen: ${problem}`, {
    hint: "Restore a backup of the store, or submit the skill again",
  });
}

function denied(message: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", message, { hint: "Another reviewer or operator must decide about it" });
}

export function notFound(message: string): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", message, { hint: "`glovebox skills` lists the versions" });
}

function conflict(message: string, hint: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", message, { hint });
}
