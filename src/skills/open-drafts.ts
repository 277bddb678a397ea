/** Drafts of skills by people and programs. A draft is a version like any other: it waits for a reviewer. */

import { GloveboxError, parseExecutionId } from "../domain/index.ts";
import type { ExecutionId, Json, JsonObject, Principal, PrincipalId } from "../domain/index.ts";
import { checkProgram } from "./check-submission.ts";
import { parseSkill } from "./parse-skill.ts";
import { requirePassingTests } from "./review-version.ts";
import type { ReviewPowers } from "./review-version.ts";
import type { ParsedSkill, SkillFiles, SkillGrant, SkillTest } from "./skill.ts";
import { checkReviewer, insert } from "./versions.ts";
import type { ListedSkill } from "./versions.ts";
import { draftRuns } from "./draft/draft-run.ts";
import type { DraftChoice, SkillExample, SkillExamples } from "./draft/draft-run.ts";
import type { GeneralParameter } from "./draft/generalize.ts";
import { groupPrograms } from "./draft/group-programs.ts";
import type { PastProgram } from "./draft/group-programs.ts";
import { writeText } from "./draft/write-skill.ts";

export interface DraftedSkill extends ListedSkill {
  /** What was a literal in the executions; absent for a draft with code of its own. */
  readonly parameters?: readonly DraftParameter[];
}

/** `values` are those of several executions, in their order; `value` is that of the first one. */
interface DraftParameter extends Partial<Pick<GeneralParameter, "values">> {
  readonly name: string;
  readonly value: Json;
}

/** A skill that past executions would have been, and that repeats each of them. Nothing of it is stored. */
export interface SkillSuggestion {
  readonly name: string;
  readonly description: string;
  /** `fromExecutions` of these drafts it. Newest first. */
  readonly executions: readonly ExecutionId[];
  readonly principal: PrincipalId;
  readonly tools: readonly string[];
  readonly parameters: readonly GeneralParameter[];
}

/** A skill that a program drafts: the text of `skill.ts`, or one of its principal's executions. */
export interface DraftRequest extends DraftChoice {
  readonly code?: string | undefined;
  readonly from?: string | undefined;
}

/** The program that drafts, and what its session had read. */
export interface DraftingProgram {
  readonly execution: ExecutionId;
  readonly labels: readonly string[];
}

export interface SkillDrafts {
  /**
   * For a person. The author is the principal of the executions. Of several that differ only in literals, those are the
   * parameters, and the draft repeats each.
   */
  fromExecutions(ids: readonly string[], choice: DraftChoice, by: Principal): Promise<DraftedSkill>;
  /** For a person: what principals run again and again. Takes seconds. */
  suggest(by: Principal): Promise<readonly SkillSuggestion[]>;
  /** For a program. The author is its principal. */
  fromProgram(request: DraftRequest, program: DraftingProgram, by: Principal): Promise<DraftedSkill>;
}

export interface DraftPowers extends ReviewPowers {
  /** Completed executions, newest first. */
  readonly listPrograms: (limit: number) => Promise<readonly PastProgram[]>;
  readonly bind: (skill: Pick<ParsedSkill, "requests">) => Promise<readonly SkillGrant[]>;
  /** Reads the recording of a finished execution, and records who did. */
  readonly readRun: (
    id: ExecutionId,
    access: { readonly actor: string; readonly owner?: PrincipalId },
  ) => Promise<SkillExample>;
}

/** The newest executions that are compared. */
const MOST_PROGRAMS = 500;
const LEAST_RUNS = 3;
/** Of one suggestion; reading one opens a sandbox. */
const MOST_RUNS = 10;
const MOST_SUGGESTIONS = 5;
/** Versions of one author that wait: more would hide the others from reviewers. */
const MOST_WAITING = 20;

interface DraftOrigin {
  readonly by: Principal;
  readonly author: PrincipalId;
  readonly origin: JsonObject;
}

export function openSkillDrafts(powers: DraftPowers): SkillDrafts {
  const draft = async (runs: SkillExamples, choice: DraftChoice, from: DraftOrigin): Promise<DraftedSkill> => {
    const { candidates, tests, parameters } = draftRuns(runs, choice, powers.analysis);
    const checked = await findPassing(candidates, tests, powers);
    const shown = parameters.map(({ name, values: [value = null, ...more] }) => ({
      name,
      value,
      ...(more.length > 0 && { values: [value, ...more] }),
    }));
    return { ...(await insert({ ...checked, ...from }, from.by, powers)), parameters: shown };
  };
  const draftInProgram: SkillDrafts["fromProgram"] = async ({ code, from, ...choice }, { execution, labels }, by) => {
    await checkRoom(by, powers);
    const known = { kind: "program", execution, ...(labels.length > 0 && { labels }) };
    if (from === undefined) {
      const checked = await checkDraft(writeDraft(code, choice), [], powers);
      return insert({ ...checked, origin: known }, by, powers);
    }
    if (code !== undefined) throw invalid("A draft has `code` or `from`, not both", FORM);
    const run = await powers.readRun(parseId(from), { actor: by.id, owner: by.id });
    return draft([run], choice, { by, author: by.id, origin: { ...known, from } });
  };
  const inTurn = createTurns();
  return {
    async fromExecutions(ids, choice, by) {
      checkReviewer(by);
      const [first, ...others] = [...new Set(ids)].slice(0, MOST_RUNS).map(parseId);
      if (!first) throw invalid("A draft needs an execution", "Name one that has completed");
      const read = (id: ExecutionId): Promise<SkillExample> => powers.readRun(id, { actor: by.id });
      const run = await read(first);
      const runs: SkillExamples = [run, ...(await readInTurn(others, read))];
      const stranger = runs.find(({ principal }) => principal !== run.principal);
      if (stranger) throw invalid("The executions have different principals", "A draft has one author");
      const executions = runs.map(({ execution }) => execution);
      const known = executions.length === 1 ? { execution: run.execution } : { executions };
      return draft(runs, choice, { by, author: run.principal, origin: { kind: "execution", ...known, by: by.id } });
    },
    async suggest(by) {
      checkReviewer(by);
      const groups = groupPrograms(await powers.listPrograms(MOST_PROGRAMS), LEAST_RUNS, powers.analysis);
      const found = await readInTurn(groups.slice(0, MOST_SUGGESTIONS), (group) => suggestOne(group, by, powers));
      return found.flatMap((suggestion) => suggestion ?? []);
    },
    fromProgram: (request, program, by) => inTurn(() => draftInProgram(request, program, by)),
  };
}

/** A draft opens sandboxes: programs get them one after another, however many drafts they begin. */
function createTurns(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** `undefined` unless the generalized program repeats each of the executions that can be read. */
async function suggestOne(
  group: readonly PastProgram[],
  by: Principal,
  powers: DraftPowers,
): Promise<SkillSuggestion | undefined> {
  const read = ({ execution }: PastProgram) => powers.readRun(execution, { actor: by.id }).catch(leaveOut);
  const [first, ...others] = (await readInTurn(group.slice(0, MOST_RUNS), read)).flatMap((run) => run ?? []);
  if (!first || others.length + 1 < LEAST_RUNS) return undefined;
  const runs: SkillExamples = [first, ...others];
  try {
    const { candidates, tests, parameters } = draftRuns(runs, {}, powers.analysis);
    const { files, grants } = await findPassing(candidates, tests, powers);
    const { name, description } = parseSkill(files);
    const executions = runs.map(({ execution }) => execution);
    const tools = grants.map(({ address }) => address);
    return { name, description, executions, principal: first.principal, tools, parameters };
  } catch (thrown) {
    return leaveOut(thrown);
  }
}

/** What cannot become a skill does not affect the others. */
function leaveOut(thrown: unknown): undefined {
  if (!(thrown instanceof GloveboxError)) throw thrown;
  return undefined;
}

/** One after another: each opens a sandbox. */
async function readInTurn<Item, Read>(items: readonly Item[], read: (item: Item) => Promise<Read>): Promise<Read[]> {
  const found: Read[] = [];
  for (const item of items) found.push(await read(item));
  return found;
}

interface CheckedDraft {
  readonly files: SkillFiles;
  readonly grants: readonly SkillGrant[];
}

/** The texts of one draft differ in how they are written; the first that passes its tests is the draft. */
async function findPassing(
  [files, ...others]: readonly SkillFiles[],
  tests: readonly SkillTest[],
  powers: DraftPowers,
): Promise<CheckedDraft> {
  if (!files) throw new TypeError("A draft without files");
  try {
    return await checkDraft(files, tests, powers);
  } catch (thrown) {
    if (others.length === 0 || !(thrown instanceof GloveboxError)) throw thrown;
    return findPassing(others, tests, powers);
  }
}

/** Throws what is wrong with it, before anything is stored. `tests` are run instead of those in the files, if there are any. */
async function checkDraft(files: SkillFiles, tests: readonly SkillTest[], powers: DraftPowers): Promise<CheckedDraft> {
  const skill = parseSkill(files);
  const grants = await powers.bind(skill);
  checkProgram(skill, grants, powers.analysis);
  const powersOf = skill.wants.map(({ power }) => power);
  const own = tests.length > 0 ? { ...skill, tests } : skill;
  await requirePassingTests({ ...own, grants, powers: powersOf }, powers);
  return { files, grants };
}

async function checkRoom({ id }: Principal, { store }: DraftPowers): Promise<void> {
  const waiting = (await store.list()).filter(({ state, author }) => state === "pending_review" && author === id);
  if (waiting.length < MOST_WAITING) return;
  throw new GloveboxError("LIMIT_QUOTA", `${MOST_WAITING} drafts of ${id} wait for review already`, {
    hint: "A reviewer decides about them first: `glovebox skills`",
  });
}

const FORM = 'Send { name, description, code: "the text of skill.ts" } or { name, description, from: "ex_…" }';

function writeDraft(code: string | undefined, { name, description }: DraftChoice): SkillFiles {
  if (code === undefined || name === undefined || description === undefined)
    throw invalid("A draft needs a name, a description, and `code` or `from`", FORM);
  const text = writeText({ name, description });
  return new Map([
    ["SKILL.md", Buffer.from(text)],
    ["skill.ts", Buffer.from(code)],
  ]);
}

function parseId(raw: string): ExecutionId {
  const id = parseExecutionId(raw);
  if (id) return id;
  throw invalid(
    `${JSON.stringify(raw.slice(0, 60))} is not an execution id`,
    "Use the id in a result: ex_ and 24 hex digits",
  );
}

function invalid(message: string, hint: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, { hint });
}
