/** What a reviewer reads about a version of a skill: everything that decides, with hidden characters written out. */

import type { GatewaySkills, SkillReview } from "../../../skills/index.ts";
import { toPlainJson, toVisible } from "../../../text/index.ts";
import { formatPlan } from "../print.ts";

type Lines = readonly string[];

export function describeSkill(review: SkillReview): Lines {
  const { name, version, state, digest, address, author, createdAt, origin, description, input, output } = review;
  const { plan, findings } = review;
  return [
    `${name} version ${version}: ${state}${review.frozen === undefined ? "" : `, frozen: ${review.frozen}`}`,
    `  in programs: ${address}`,
    `  digest: ${digest}`,
    `  from: ${author}, ${new Date(createdAt).toISOString()}, ${toPlainJson(origin)}`,
    ...describeDecision(review),
    `  description: ${toVisible(description)}`,
    `  input: ${toPlainJson(input)}`,
    `  output: ${output ? toPlainJson(output) : "not declared"}`,
    "",
    ...describeGrants(review),
    "",
    "What its program can call:",
    ...formatPlan(plan).map((line) => `  ${toVisible(line)}`),
    ...(findings.length === 0 ? [] : ["", "Findings:"]),
    ...findings.map(({ severity, message, rule, line }) => `  ${severity}: ${message} (${rule}, line ${line})`),
    "",
    ...describeTests(review),
    ...describeSimilar(review),
    "",
    ...describeChanges(review.changes),
  ];
}

function describeDecision({ approval, decidedBy, note }: SkillReview): Lines {
  const self = approval?.selfReviewed === true ? ", self-reviewed" : "";
  const signed = approval
    ? [`  approved by: ${approval.reviewer}, ${new Date(approval.at).toISOString()}${self}, key ${approval.key}`]
    : [];
  const decided = decidedBy !== undefined && decidedBy !== approval?.reviewer ? [`  decided by: ${decidedBy}`] : [];
  return [...signed, ...decided, ...(note === undefined ? [] : [`  note: ${toVisible(note)}`])];
}

function describeGrants({ grants }: SkillReview): Lines {
  if (grants.length === 0) return ["It asks for nothing."];
  const lines = grants.map(({ id, kind, name, pin, reason, decision, change }) => {
    const what = pin ? ` (${pin.effect})` : kind === "tool" ? "" : ` (${kind}, beyond its caller: --grant ${id})`;
    const marks = [decision === "open" ? "" : decision, change === "same" ? "" : change].filter((mark) => mark !== "");
    return `  ${name}${what}${marks.length > 0 ? ` [${marks.join(", ")}]` : ""}${reason === "" ? "" : `: ${toVisible(reason)}`}`;
  });
  return ["It asks for these; leave one out with --without:", ...lines];
}

function describeTests({ tests }: SkillReview): Lines {
  if (tests.length === 0) return ["It has no tests."];
  const lines = tests.flatMap(({ file, runs }) =>
    runs.map(
      ({ engine, problem }) => `  ${file} on ${engine}: ${problem === undefined ? "passes" : toVisible(problem)}`,
    ),
  );
  return ["Tests, replayed now with their recorded answers:", ...lines];
}

function describeSimilar({ similar }: SkillReview): Lines {
  if (similar.length === 0) return [];
  return [
    "",
    "Similar skills:",
    ...similar.map(({ name, why, description }) => `  ${name}: ${why}; ${toVisible(description)}`),
  ];
}

export function describeChanges({ since, removedGrants, files, ...parts }: SkillReview["changes"]): Lines {
  const diffs = Object.entries({ description: parts.description, input: parts.input, output: parts.output });
  return [
    ...(since === undefined ? ["Files:"] : [`Changes since version ${since}:`]),
    ...removedGrants.map((id) => `  no longer asks for ${id}`),
    ...diffs.flatMap(([part, lines]) => (lines ? [`  ${part}:`, ...indent(lines)] : [])),
    ...files.flatMap(({ path, kind, lines }) => [
      `  ${path}: ${kind === "same" ? "unchanged" : kind}`,
      ...indent(lines),
    ]),
  ];
}

function indent(lines: Lines): Lines {
  return lines.map((line) => `  ${toVisible(line)}`);
}

type UsedSkill = Awaited<ReturnType<GatewaySkills["usage"]>>[number];

export function describeUsage({
  name,
  calls,
  succeeded,
  medianMs,
  lastUsedAt,
  savedTokens,
  retire,
}: UsedSkill): string {
  const last = lastUsedAt === undefined ? "never called" : `last ${new Date(lastUsedAt).toISOString()}`;
  const time = medianMs === undefined ? "" : `, median ${medianMs} ms`;
  const advice = retire === undefined ? "" : `; ${retire}: glovebox skills retire ${name}`;
  return `${name}: ${calls} calls, ${succeeded} ok${time}, about ${savedTokens} tokens saved, ${last}${advice}`;
}

type SuggestedSkill = Awaited<ReturnType<GatewaySkills["drafts"]["suggest"]>>[number];

export function describeSuggestion({
  name,
  executions,
  principal,
  tools,
  parameters,
}: SuggestedSkill): readonly string[] {
  const names = parameters.map((parameter) => parameter.name).join(", ") || "none";
  return [
    `${name}: ${executions.length} executions of ${principal} with ${tools.join(", ")}; parameters: ${names}`,
    `  glovebox skills create ${name} --from ${executions.join(" ")}`,
  ];
}
