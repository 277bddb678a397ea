/** `glovebox skills`: submits folders, shows what a version does, and decides about it. Only people can reach it. */

import { resolve } from "node:path";

import type { Command } from "commander";

import { GloveboxError } from "../../../domain/index.ts";
import { readFolder, verifyFolder, writeFolder } from "../../../skills/index.ts";
import type { ListedSkill } from "../../../skills/index.ts";
import { parseCount } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import { printLine } from "../print.ts";
import { describeChanges, describeSkill, describeSuggestion, describeUsage } from "./print-skill.ts";

interface ChoiceFlags {
  readonly number?: number;
  readonly digest?: string;
}

interface ApproveFlags extends ChoiceFlags {
  readonly without?: string[];
  readonly grant?: string[];
  readonly note?: string;
}

export function addSkills(program: Command, { addJsonCommand }: Commands): void {
  const skills = addJsonCommand(program, "skills", "list skills: their versions, states and digests", list);
  addJsonCommand(skills, "list", "the same", list);
  addJsonCommand(skills, "submit <folder>", "store the skill in a folder as a version that waits for review", submit);
  addJsonCommand(skills, "create [name]", "draft a skill from a finished execution, for review", create)
    .requiredOption("--from <execution...>", "its literal arguments become parameters; of several, what differs")
    .option("--description <text>", "what it does; models choose it by this")
    .option("--keep <parameter...>", "leave these parameters as the literals that they were");
  addJsonCommand(skills, "suggest", "find programs that ran again and again with other literals", suggest);
  addJsonCommand(skills, "import <folder>", "the same, for a folder that another gateway exported", submit);
  addReviews(skills, { addJsonCommand });
  addJsonCommand(skills, "rollback <name>", "submit an earlier approved version again, for review", rollback).option(
    "--to <number>",
    "this version, by default the last one before",
    parseCount,
  );
  addJsonCommand(skills, "usage", "show how often approved skills are called, and which to retire", usage);
  addJsonCommand(
    skills,
    "verify [folder]",
    "verify all approved skills, or an exported one without a store",
    verify,
  ).option("--key <key>", "the key that must have signed the folder");
  addJsonCommand(skills, "rotate-key", "sign approvals with a new key; those that are valid stay valid", rotateKey);
  addJsonCommand(skills, "thaw <name>", "sign a frozen skill again, for its tools as they are now", thaw);
  addJsonCommand(skills, "restore <name>", "write the approved files to the folder of skills again", restore);
}

/** Commands about one version. */
function addReviews(skills: Command, { addJsonCommand }: Pick<Commands, "addJsonCommand">): void {
  addJsonCommand(skills, "show <name>", "show what a version does, may call and changes", show)
    .option("--number <number>", NUMBER, parseCount)
    .option("--digest <digest>", DIGEST);
  addJsonCommand(skills, "diff <name>", "show what a version changes since the last approved one", diff)
    .option("--number <number>", NUMBER, parseCount)
    .option("--digest <digest>", DIGEST);
  addJsonCommand(skills, "approve <name>", "approve and sign a version that waits for review", approve)
    .option("--number <number>", NUMBER, parseCount)
    .option("--digest <digest>", DIGEST)
    .option("--without <grant...>", "do not grant these")
    .option("--grant <grant...>", "grant these hosts and secrets, such as host:api.example.com")
    .option("--note <text>", "kept with the decision");
  addJsonCommand(skills, "reject <name>", "refuse a version that waits for review", reject)
    .option("--number <number>", NUMBER, parseCount)
    .option("--digest <digest>", DIGEST)
    .requiredOption("--reason <text>", "what its author should change");
  addJsonCommand(skills, "revoke <name>", "refuse every further call of an approved version", revoke)
    .option("--number <number>", NUMBER, parseCount)
    .option("--digest <digest>", DIGEST)
    .option("--reason <text>", "why, for the record");
  addJsonCommand(skills, "retire <name>", "take an approved version out of use; programs that run keep it", retire)
    .option("--number <number>", NUMBER, parseCount)
    .option("--digest <digest>", DIGEST)
    .option("--reason <text>", "why, for the record");
  addJsonCommand(
    skills,
    "export <name> <folder>",
    "write an approved version and its lock to a new folder",
    exportSkill,
  );
}

const VALUE_CHARS = 200;
const NUMBER = "this version";
const DIGEST = "only if the version has this digest";

function toChoice(name: string, { number: version, digest }: ChoiceFlags) {
  return { name, version, digest };
}

function describe({ name, version, state, digest, frozen }: ListedSkill): string {
  return `${name} version ${version}: ${state}${frozen === undefined ? "" : `, frozen: ${frozen}`} (${digest})`;
}

/** `--json` prints an array, which scripts rely on. */
async function list({ flags, terminal, openRecords, print }: Invocation): Promise<void> {
  await using records = await openRecords();
  const skills = await records.skills.list();
  print(skills, skills.map(describe));
  if (!flags.json && skills.length === 0)
    printLine(terminal.stderr, "No skill is stored: `glovebox skills submit DIR`");
}

async function submit({ openGateway, principal, terminal, print }: Invocation, folder: string): Promise<void> {
  const files = await readFolder(resolve(terminal.cwd, folder));
  await using gateway = await openGateway();
  const submitted = await gateway.skills.submit(files, principal);
  print(submitted, [describe(submitted)]);
  printLine(terminal.stderr, `Review it with \`glovebox skills show ${submitted.name}\``);
}

interface CreateSkillFlags {
  readonly from: string[];
  readonly description?: string;
  readonly keep?: string[];
}

async function create(
  { flags, openGateway, principal, terminal, print }: Invocation<CreateSkillFlags>,
  name: string | undefined,
): Promise<void> {
  await using gateway = await openGateway();
  const { from, description, keep } = flags;
  const drafted = await gateway.skills.drafts.fromExecutions(from, { name, description, keep }, principal);
  const parameters = drafted.parameters ?? [];
  const lines = parameters.map((one) => `  ${one.name}: was ${capValue(JSON.stringify(one.value))}`);
  print(drafted, [describe(drafted), ...lines]);
  printLine(terminal.stderr, `Review it with \`glovebox skills show ${drafted.name}\``);
}

async function suggest({ openGateway, principal, terminal, print }: Invocation): Promise<void> {
  await using gateway = await openGateway();
  const suggestions = await gateway.skills.drafts.suggest(principal);
  print({ suggestions }, suggestions.flatMap(describeSuggestion));
  if (suggestions.length === 0) printLine(terminal.stderr, "No program ran three times with other literals");
}

function capValue(text: string): string {
  return text.length <= VALUE_CHARS ? text : `${text.slice(0, VALUE_CHARS).toWellFormed()}…`;
}

async function show({ flags, openRecords, print }: Invocation<ChoiceFlags>, name: string): Promise<void> {
  await using records = await openRecords();
  const review = await records.skills.show(toChoice(name, flags));
  print(review, describeSkill(review));
}

async function diff({ flags, openRecords, print }: Invocation<ChoiceFlags>, name: string): Promise<void> {
  await using records = await openRecords();
  const { changes, version } = await records.skills.show(toChoice(name, flags));
  print({ name, version, ...changes }, describeChanges(changes));
}

async function approve(
  { flags, principal, openRecords, print }: Invocation<ApproveFlags>,
  name: string,
): Promise<void> {
  await using records = await openRecords();
  const { without, grant, note } = flags;
  const approved = await records.skills.approve({ ...toChoice(name, flags), without, grant, note }, principal);
  print(approved, [describe(approved)]);
}

async function reject(
  { flags, principal, openRecords, print }: Invocation<ChoiceFlags & { readonly reason: string }>,
  name: string,
): Promise<void> {
  await using records = await openRecords();
  const rejected = await records.skills.reject(toChoice(name, flags), flags.reason, principal);
  print(rejected, [describe(rejected)]);
}

type ReasonFlags = ChoiceFlags & { readonly reason?: string };

async function revoke({ flags, principal, openRecords, print }: Invocation<ReasonFlags>, name: string): Promise<void> {
  await using records = await openRecords();
  const revoked = await records.skills.revoke(toChoice(name, flags), principal, flags.reason);
  print(revoked, [describe(revoked)]);
}

async function retire({ flags, principal, openRecords, print }: Invocation<ReasonFlags>, name: string): Promise<void> {
  await using records = await openRecords();
  const retired = await records.skills.retire(toChoice(name, flags), principal, flags.reason);
  print(retired, [describe(retired)]);
}

async function rollback(
  { flags, principal, openRecords, print }: Invocation<{ readonly to?: number }>,
  name: string,
): Promise<void> {
  await using records = await openRecords();
  const submitted = await records.skills.rollback({ name, version: flags.to }, principal);
  print(submitted, [describe(submitted)]);
}

async function exportSkill({ terminal, openRecords, print }: Invocation, name: string, folder: string): Promise<void> {
  await using records = await openRecords();
  const { skill, files } = await records.skills.exportFiles({ name });
  await writeFolder(resolve(terminal.cwd, folder), files);
  print({ ...skill, folder }, [describe(skill)]);
}

async function usage({ openRecords, print }: Invocation): Promise<void> {
  await using records = await openRecords();
  const skills = await records.skills.usage();
  print({ skills }, skills.map(describeUsage));
}

async function rotateKey({ principal, openRecords, print }: Invocation): Promise<void> {
  await using records = await openRecords();
  const rotated = await records.skills.rotateKey(principal);
  print(rotated, [`${rotated.from} is replaced by ${rotated.to}`]);
}

/** Exit 1 if anything differs from what was approved. A folder needs neither a store nor a configuration. */
async function verify(
  { flags, terminal, openRecords, print }: Invocation<{ readonly key?: string }>,
  folder?: string,
): Promise<number> {
  if (folder !== undefined) {
    const verified = await verifyFolder(await readFolder(resolve(terminal.cwd, folder)), flags.key);
    const { name, version, digest, reviewer, at, selfReviewed, key } = verified;
    const self = selfReviewed ? ", self-reviewed" : "";
    print(verified, [
      `${name} version ${version} (${digest})`,
      `  approved by ${reviewer}, ${new Date(at).toISOString()}${self}`,
      `  signed by ${key}${flags.key === undefined ? ": compare it with the key of that gateway, or pass --key" : ""}`,
    ]);
    return EXIT.done;
  }
  await using records = await openRecords();
  const verified = await records.skills.verify();
  print({ skills: verified }, verified.map(describe));
  return verified.some(({ frozen }) => frozen !== undefined) ? EXIT.failed : EXIT.done;
}

async function thaw({ openGateway, principal, print }: Invocation, name: string): Promise<void> {
  await using gateway = await openGateway();
  const thawed = await gateway.skills.thaw(name, principal);
  if (thawed.frozen !== undefined)
    throw new GloveboxError("SKILL_FROZEN", `${name} is still frozen: ${thawed.frozen}`, {
      hint: `\`glovebox skills restore ${name}\` writes the approved files again`,
    });
  print(thawed, [describe(thawed)]);
}

async function restore({ principal, openRecords, print }: Invocation, name: string): Promise<void> {
  await using records = await openRecords();
  const restored = await records.skills.restore({ name }, principal);
  print(restored, [describe(restored)]);
}
