/** What a reviewer reads about a version of a skill: everything that decides, with hidden characters written out. */

import { compareLines } from "../compare-lines.ts";
import type { SkillDetails, SkillFiles } from "../../../skills/index.ts";
import { toPlainJson, toVisible } from "../../../text/index.ts";
import { formatPlan } from "../print.ts";

/** The version as data: without the bytes, which are shown as text. */
export function toShown({ skill, files, before, review, ...details }: SkillDetails) {
  const { description, license, metadata, input, output = null, requests, tests } = skill;
  const texts = Object.fromEntries([...files].map(([path, bytes]) => [path, toText(bytes)]));
  const known = { description, license, metadata, input, output, requests, tests: tests.length };
  return { ...details, ...known, ...review, files: texts, before: before?.row.version };
}

export function describeSkill(details: SkillDetails): readonly string[] {
  const { name, version, state, digest, address, author, createdAt, origin, skill, grants, review, before } = details;
  return [
    `${name} version ${version}: ${state}${details.frozen === undefined ? "" : `, frozen: ${details.frozen}`}`,
    `  in programs: ${address}`,
    `  digest: ${digest}`,
    `  from: ${author}, ${new Date(createdAt).toISOString()}, ${toPlainJson(origin)}`,
    ...describeDecision(details),
    `  description: ${toVisible(skill.description)}`,
    `  input: ${toPlainJson(skill.input)}`,
    `  output: ${skill.output ? toPlainJson(skill.output) : "not declared"}`,
    "",
    grants.length === 0 ? "It may call no tool." : "It may call these tools; leave one out with --without:",
    ...grants.map((grant) => `  ${grant.address} (${grant.effect})${describeReason(details, grant.address)}`),
    "",
    "What its program can call:",
    ...formatPlan(review.plan).map((line) => `  ${toVisible(line)}`),
    ...(review.findings.length === 0 ? [] : ["", "Findings:"]),
    ...review.findings.map(({ severity, message, rule, line }) => `  ${severity}: ${message} (${rule}, line ${line})`),
    "",
    ...(skill.tests.length === 0 ? ["It has no tests."] : [`Tests: ${skill.tests.map(({ file }) => file).join(", ")}`]),
    "",
    ...(before ? [`Changes since version ${before.row.version}:`] : ["Files:"]),
    ...describeFiles(before?.files ?? new Map(), details.files),
  ];
}

function describeDecision({ approval, decidedBy, note }: SkillDetails): readonly string[] {
  const self = approval?.selfReviewed === true ? ", self-reviewed" : "";
  const signed = approval
    ? [`  approved by: ${approval.reviewer}, ${new Date(approval.at).toISOString()}${self}, key ${approval.key}`]
    : [];
  const decided = decidedBy !== undefined && decidedBy !== approval?.reviewer ? [`  decided by: ${decidedBy}`] : [];
  return [...signed, ...decided, ...(note === undefined ? [] : [`  note: ${toVisible(note)}`])];
}

function describeReason({ skill }: SkillDetails, address: string): string {
  const reason = skill.requests.find(({ tool }) => tool === address)?.reason ?? "";
  return reason === "" ? "" : `: ${toVisible(reason)}`;
}

/** Every changed file as a whole, line by line: what is not shown cannot be approved. */
export function describeFiles(before: SkillFiles, now: SkillFiles): readonly string[] {
  const paths = [...new Set([...before.keys(), ...now.keys()])].toSorted();
  return paths.flatMap((path) => {
    const [was, is] = [before, now].map((files) => files.get(path));
    if (was && is && Buffer.from(was).equals(is)) return [`  ${path}: unchanged`];
    const kind = was ? (is ? "changed" : "removed") : "added";
    return [`  ${path}: ${kind}`, ...compareLines(toText(was), toText(is)).map((line) => `  ${toVisible(line)}`)];
  });
}

function toText(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString("utf8") : "";
}
