/** Compares a version with the one that was approved before it. */

import type { JsonSchema } from "../../domain/index.ts";
import { defined } from "../../domain/index.ts";
import { compareLines } from "../../text/index.ts";
import { describePower, toPowerId } from "../powers.ts";
import type { SkillPower } from "../powers.ts";
import type { ParsedSkill, SkillFiles, SkillGrant, SkillState } from "../skill.ts";
import type { FileChange, ReviewedGrant, SkillChanges } from "./review.ts";

/** The parts of a version that are compared. */
export interface ComparedVersion {
  readonly version: number;
  readonly skill: ParsedSkill;
  readonly files: SkillFiles;
  readonly grants: readonly SkillGrant[];
  readonly powers: readonly SkillPower[];
}

export function describeChanges(now: ComparedVersion, before: ComparedVersion | undefined): SkillChanges {
  const asked = new Set(now.skill.requests.map(({ tool }) => tool));
  const removed = (before?.grants ?? []).filter(({ address }) => !asked.has(address));
  const wanted = new Set(now.skill.wants.map(({ power }) => toPowerId(power)));
  const removedPowers = (before?.powers ?? []).map(toPowerId).filter((id) => !wanted.has(id));
  const changed = before && {
    description: compareTexts(before.skill.description, now.skill.description),
    input: compareTexts(toText(before.skill.input), toText(now.skill.input)),
    output: compareTexts(toText(before.skill.output), toText(now.skill.output)),
  };
  return {
    ...defined({ since: before?.version, ...changed }),
    removedGrants: [...removed.map(({ address }) => toGrantId(address)), ...removedPowers],
    files: compareFiles(before?.files ?? new Map(), now.files),
  };
}

/** Those of an approved version were decided; until then all that it asks for are open. */
export function describeGrants(
  { skill, grants, powers }: ComparedVersion,
  state: SkillState,
  before: ComparedVersion | undefined,
): readonly ReviewedGrant[] {
  const isDecided = state !== "draft" && state !== "pending_review" && state !== "rejected";
  const decide = (isGranted: boolean): ReviewedGrant["decision"] =>
    isDecided ? (isGranted ? "granted" : "refused") : "open";
  const tools = skill.requests.map(({ tool, reason }): ReviewedGrant => {
    const pin = grants.find(({ address }) => address === tool);
    const was = before?.grants.find(({ address }) => address === tool);
    const isSame = was?.definition === pin?.definition && was?.connector === pin?.connector;
    return {
      id: toGrantId(tool),
      kind: "tool",
      name: tool,
      reason,
      ...defined({ pin }),
      decision: decide(pin !== undefined),
      change: was ? (isSame ? "same" : "changed") : "new",
    };
  });
  const extra = skill.wants.map(({ power, reason }): ReviewedGrant => {
    const id = toPowerId(power);
    const find = (all: readonly SkillPower[] = []) => all.find((one) => toPowerId(one) === id);
    const was = find(before?.powers);
    const isSame = was && describePower(was) === describePower(power);
    return {
      id,
      kind: power.kind,
      name: describePower(power),
      reason,
      decision: decide(find(powers) !== undefined),
      change: was ? (isSame ? "same" : "changed") : "new",
    };
  });
  return [...tools, ...extra];
}

export function toGrantId(address: string): string {
  return `tool:${address}`;
}

function compareTexts(before: string, now: string): readonly string[] | undefined {
  return before === now ? undefined : compareLines(before, now);
}

function toText(schema: JsonSchema | undefined): string {
  return schema ? JSON.stringify(schema, null, 2) : "";
}

/** Every changed file as a whole, line by line: what is not shown cannot be approved. */
function compareFiles(before: SkillFiles, now: SkillFiles): readonly FileChange[] {
  const paths = [...new Set([...before.keys(), ...now.keys()])].toSorted();
  return paths.map((path) => {
    const [was, is] = [before.get(path), now.get(path)];
    if (was && is && Buffer.from(was).equals(is)) return { path, kind: "same", lines: [] };
    const kind = was ? (is ? "changed" : "removed") : "added";
    return { path, kind, lines: compareLines(fileText(was), fileText(is)) };
  });
}

export function fileText(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString("utf8") : "";
}
