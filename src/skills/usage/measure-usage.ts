/** How useful approved skills are: figures from the records of their calls, and why one should be retired. */

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { DAY_MS } from "../../timing/index.ts";

/** The end of one call of a skill, as the ledger has it. */
export interface SkillCallRecord {
  /** Its address in programs. */
  readonly subject: string;
  readonly at: Instant;
  readonly detail: string;
}

export interface MeasuredSkill {
  readonly name: string;
  readonly address: string;
  readonly approvedAt: Instant;
  /** Of the program that a caller would otherwise write. */
  readonly programChars: number;
}

export interface SkillUsage {
  readonly name: string;
  readonly address: string;
  readonly approvedAt: Instant;
  readonly calls: number;
  readonly succeeded: number;
  /** Of the calls that succeeded; absent without one. */
  readonly medianMs?: number;
  readonly lastUsedAt?: Instant;
  /** An estimate: four characters of the program are one token, once for each call that succeeded. */
  readonly savedTokens: number;
  /** Absent for a skill that is worth keeping. */
  readonly retire?: "unused" | "failing";
}

const UNUSED_MS = 30 * DAY_MS;
/** Fewer calls say nothing about the skill. */
const LEAST_CALLS = 5;
const FAILING_SHARE = 0.5;
const CHARS_PER_TOKEN = 4;

/** In the order of `skills`. Records of other skills, and of dry runs, are left out. */
export function measureUsage(
  skills: readonly MeasuredSkill[],
  records: readonly SkillCallRecord[],
  now: Instant,
): readonly SkillUsage[] {
  const bySubject = Map.groupBy(records.flatMap(readCall), ({ subject }) => subject);
  return skills.map((skill) => measureOne(skill, bySubject.get(skill.address) ?? [], now));
}

type ReadCall = ReturnType<typeof readCall>[number];

/** Faults of the caller, or of the moment. */
const OTHERS: ReadonlySet<unknown> = new Set([
  ..."TOOL_ARGUMENTS_INVALID PROGRAM_TYPES REQUEST_CANCELLED SKILL_NOT_APPROVED SKILL_FROZEN".split(" "),
  ..."LIMIT_BUSY LIMIT_CALLS LIMIT_QUOTA".split(" "),
]);

function readCall({ subject, at, detail }: SkillCallRecord) {
  const { outcome, ms, dryRun, code } = Object(parseJson(detail));
  const isOwn = dryRun === undefined && outcome !== "denied" && !OTHERS.has(code);
  const isCall = isJsonObject(parseJson(detail)) && isOwn;
  return isCall ? [{ subject, at, isOk: outcome === "ok", ms: typeof ms === "number" ? ms : 0 }] : [];
}

function measureOne(skill: MeasuredSkill, calls: readonly ReadCall[], now: Instant): SkillUsage {
  const { name, address, approvedAt, programChars } = skill;
  const succeeded = calls.filter(({ isOk }) => isOk);
  const times = succeeded.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const medianMs = times[Math.floor((times.length - 1) / 2)];
  const lastUsedAt = calls.reduce<number | undefined>((last, { at }) => Math.max(last ?? at, at), undefined);
  const isFailing = calls.length >= LEAST_CALLS && succeeded.length < calls.length * FAILING_SHARE;
  const isUnused = now - Math.max(lastUsedAt ?? 0, approvedAt) >= UNUSED_MS;
  const retire = isFailing ? "failing" : isUnused ? "unused" : undefined;
  return {
    name,
    address,
    approvedAt,
    calls: calls.length,
    succeeded: succeeded.length,
    savedTokens: Math.round((succeeded.length * programChars) / CHARS_PER_TOKEN),
    ...(medianMs !== undefined && { medianMs }),
    ...(lastUsedAt !== undefined && { lastUsedAt }),
    ...(retire && { retire }),
  };
}
