/** Puts together what a reviewer sees of a version, and checks what no reviewer should have to: that its tests pass. */

import type { AnalysisOptions } from "../analysis/index.ts";
import { GloveboxError, defined, describeError, parseJson } from "../domain/index.ts";
import { reviewProgram, toNamespaces } from "./check-submission.ts";
import { describeChanges, describeGrants, fileText } from "./review/describe-changes.ts";
import { findSimilar } from "./review/find-similar.ts";
import type { ProgramReview, ReviewedTest, SkillReview } from "./review/review.ts";
import { parseApproval } from "./sign-version.ts";
import type { ParsedSkill, RunTests, SkillGrant, SkillRow, TestRun } from "./skill.ts";
import { readVersion } from "./verify-version.ts";
import type { SkillVersion } from "./verify-version.ts";
import { getVersion, listSkill } from "./versions.ts";
import type { ChangePowers } from "./versions.ts";

export interface ReviewPowers extends ChangePowers {
  readonly analysis: AnalysisOptions;
  readonly runTests: RunTests;
}

export async function reviewVersion(row: SkillRow, powers: ReviewPowers): Promise<SkillReview> {
  const version = await getVersion(row, powers);
  const { skill, files, grants } = version;
  const before = await findBefore(row, powers);
  const [now, then] = [{ ...version, version: row.version }, before && { ...before, version: before.row.version }];
  const [others, runs] = await Promise.all([
    listOthers(row.name, powers),
    replayTests({ ...skill, ...version }, powers),
  ]);
  return {
    ...(await listSkill(row, powers)),
    address: row.address,
    origin: { ...Object(parseJson(row.origin)) },
    description: skill.description,
    metadata: skill.metadata,
    input: skill.input,
    output: skill.output ?? null,
    files: Object.fromEntries([...files].map(([path, bytes]) => [path, fileText(bytes)])),
    grants: describeGrants(now, row.state, then),
    tests: skill.tests.map(({ file, calls }) => ({ file, calls: calls.length, runs: toRuns(runs, file) })),
    changes: describeChanges(now, then),
    similar: findSimilar(skill, others),
    ...reviewGranted(skill, grants, powers.analysis),
    ...defined({
      license: skill.license,
      approval: withoutSignature(parseApproval(row.signature)),
      decidedBy: row.decidedBy ?? undefined,
      note: row.note ?? undefined,
    }),
  };
}

/** A program whose calls were not all granted may be refused as a whole: the reviewer reads why. */
function reviewGranted(skill: ParsedSkill, grants: readonly SkillGrant[], options: AnalysisOptions): ProgramReview {
  try {
    const { findings, plan } = reviewProgram(skill, grants, options);
    return { findings, plan };
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError)) throw thrown;
    const { code: rule, message, line = 1, column = 1 } = describeError(thrown);
    return { findings: [{ rule, severity: "error", message, line, column }], plan: { exact: false, calls: [] } };
  }
}

function toRuns(runs: readonly TestRun[], file: string): ReviewedTest["runs"] {
  return runs.filter((run) => run.file === file).map(({ engine, problem }) => ({ engine, ...defined({ problem }) }));
}

function withoutSignature(approval: ReturnType<typeof parseApproval>): SkillReview["approval"] {
  if (!approval) return undefined;
  const { signature: _, ...rest } = approval;
  return rest;
}

/** The version that is approved, or was last. */
async function findBefore({ name, version }: SkillRow, powers: ReviewPowers): Promise<SkillVersion | undefined> {
  const rows = await powers.store.versions(name);
  const before = rows.findLast((one) => one.version < version && parseApproval(one.signature));
  return before && getVersion(before, powers);
}

/** The newest version of each other skill that was not refused. */
async function listOthers(name: string, powers: ReviewPowers): Promise<readonly ParsedSkill[]> {
  const rows = (await powers.store.list()).filter((row) => row.name !== name && SIMILAR.has(row.state));
  const newest = [...Map.groupBy(rows, (row) => row.name).values()].flatMap((own) => own.at(-1) ?? []);
  const read = await Promise.all(newest.map((row) => readVersion(row, powers)));
  return read.flatMap((one) => (one.ok ? [one.skill] : []));
}

const SIMILAR: ReadonlySet<SkillRow["state"]> = new Set(["pending_review", "approved"]);

/** A program with its tests, and what it is granted. */
type Tested = Pick<ParsedSkill, "program" | "tests"> & Pick<SkillVersion, "grants" | "powers">;

function replayTests(
  { program, tests, grants, powers: extra }: Tested,
  { runTests }: Pick<ReviewPowers, "runTests">,
): Promise<readonly TestRun[]> {
  const secrets = extra.flatMap((power) => (power.kind === "secret" ? [power.name] : []));
  const network = extra.some(({ kind }) => kind === "host");
  return runTests({ source: program, namespaces: toNamespaces(grants), tests, network, secrets });
}

/**
 * Rejects with REQUEST_INVALID unless every test passes on every engine with these grants. A skill whose output depends on
 * the engine fails on one of them.
 */
export async function requirePassingTests(skill: Tested, powers: Pick<ReviewPowers, "runTests">): Promise<void> {
  const problem = await findFailedTest(skill, powers);
  if (problem === undefined) return;
  throw new GloveboxError("REQUEST_INVALID", problem, {
    hint: "Record the test again, or repair skill.ts: tests are replayed with their recorded answers",
  });
}

/** In words; `undefined` if all pass. */
export async function findFailedTest(
  skill: Tested,
  powers: Pick<ReviewPowers, "runTests">,
): Promise<string | undefined> {
  const runs = await replayTests(skill, powers);
  const failed = runs.find(({ problem }) => problem !== undefined);
  if (!failed) return undefined;
  const passes = runs.find(({ file, problem }) => file === failed.file && problem === undefined);
  const where = passes ? ` on ${failed.engine}, but not on ${passes.engine}: the skill depends on the engine` : "";
  return `${failed.file} fails${where}: ${failed.problem}`;
}
