/** Drafts of skills by people and programs. A draft is a version like any other: it waits for a reviewer. */

import { GloveboxError, parseExecutionId } from "../domain/index.ts";
import type { ExecutionId, JsonObject, Principal, PrincipalId } from "../domain/index.ts";
import { checkProgram } from "./check-submission.ts";
import { parseSkill } from "./parse-skill.ts";
import { requirePassingTests } from "./review-version.ts";
import type { ReviewPowers } from "./review-version.ts";
import type { ParsedSkill, SkillFiles, SkillGrant } from "./skill.ts";
import { checkReviewer, insert } from "./versions.ts";
import type { ListedSkill } from "./versions.ts";
import { draftRun } from "./draft/draft-run.ts";
import type { DraftChoice, SkillExample } from "./draft/draft-run.ts";
import type { DraftParameter } from "./draft/generalize.ts";
import { writeText } from "./draft/write-skill.ts";

export interface DraftedSkill extends ListedSkill {
  /** What was a literal in the execution; absent for a draft with code of its own. */
  readonly parameters?: readonly DraftParameter[];
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
  /** For a person. The author is the principal of the execution. */
  fromExecution(id: string, choice: DraftChoice, by: Principal): Promise<DraftedSkill>;
  /** For a program. The author is its principal. */
  fromProgram(request: DraftRequest, program: DraftingProgram, by: Principal): Promise<DraftedSkill>;
}

export interface DraftPowers extends ReviewPowers {
  readonly bind: (skill: Pick<ParsedSkill, "requests">) => Promise<readonly SkillGrant[]>;
  /** Reads the recording of a finished execution, and records who did. */
  readonly readRun: (
    id: ExecutionId,
    access: { readonly actor: string; readonly owner?: PrincipalId },
  ) => Promise<SkillExample>;
}

/** Versions of one author that wait: more would hide the others from reviewers. */
const MOST_WAITING = 20;

interface DraftOrigin {
  readonly by: Principal;
  readonly author: PrincipalId;
  readonly origin: JsonObject;
}

export function openSkillDrafts(powers: DraftPowers): SkillDrafts {
  const draft = async (run: SkillExample, choice: DraftChoice, from: DraftOrigin): Promise<DraftedSkill> => {
    const { candidates, parameters } = draftRun(run, choice, powers.analysis);
    return { ...(await submitFirst(candidates, from, powers)), parameters };
  };
  return {
    async fromExecution(id, choice, by) {
      checkReviewer(by);
      const run = await powers.readRun(parseId(id), { actor: by.id });
      const origin = { kind: "execution", execution: run.execution, by: by.id };
      return draft(run, choice, { by, author: run.principal, origin });
    },
    async fromProgram({ code, from, ...choice }, { execution, labels }, by) {
      await checkRoom(by, powers);
      const known = { kind: "program", execution, ...(labels.length > 0 && { labels }) };
      if (from === undefined) {
        const files = writeDraft(code, choice);
        return submitFirst([files], { by, author: by.id, origin: known }, powers);
      }
      if (code !== undefined) throw invalid("A draft has `code` or `from`, not both", FORM);
      const run = await powers.readRun(parseId(from), { actor: by.id, owner: by.id });
      return draft(run, choice, { by, author: by.id, origin: { ...known, from } });
    },
  };
}

/** The texts of one draft differ in how they are written; the first that passes its test is the draft. */
async function submitFirst(
  [files, ...others]: readonly SkillFiles[],
  from: DraftOrigin,
  powers: DraftPowers,
): Promise<ListedSkill> {
  if (!files) throw new TypeError("A draft without files");
  try {
    return await submit(files, from, powers);
  } catch (thrown) {
    if (others.length === 0 || !(thrown instanceof GloveboxError)) throw thrown;
    return submitFirst(others, from, powers);
  }
}

async function submit(
  files: SkillFiles,
  { by, author, origin }: DraftOrigin,
  powers: DraftPowers,
): Promise<ListedSkill> {
  const skill = parseSkill(files);
  const grants = await powers.bind(skill);
  checkProgram(skill, grants, powers.analysis);
  await requirePassingTests({ ...skill, grants, powers: skill.wants.map(({ power }) => power) }, powers);
  return insert({ files, grants, origin, author }, by, powers);
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
