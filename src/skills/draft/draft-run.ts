/** Turns a finished execution into the files of a skill: its literals are parameters, and its recording is the first test. */

import { analyze } from "../../analysis/index.ts";
import type { AnalysisOptions } from "../../analysis/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type { ExecutionId, Json, Namespace, PrincipalId, Program } from "../../domain/index.ts";
import type { SkillFiles, SkillTest } from "../skill.ts";
import { generalize } from "./generalize.ts";
import type { GeneralParameter, RanProgram } from "./generalize.ts";
import { inferSchema } from "./infer-schema.ts";
import { writeSkill } from "./write-skill.ts";

/** A finished execution, all of whose calls succeeded. */
export interface SkillExample extends Pick<SkillTest, "calls"> {
  readonly execution: ExecutionId;
  readonly principal: PrincipalId;
  readonly source: string;
  readonly input?: Json;
  /** What the program could call. */
  readonly namespaces: readonly Namespace[];
  readonly value: Json;
  readonly start: NonNullable<SkillTest["start"]>;
}

export interface DraftChoice {
  /** By default after its tools. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Parameters that stay literals. */
  readonly keep?: readonly string[] | undefined;
}

export interface RunDraft {
  /** The same skill in several texts, the likeliest first. */
  readonly candidates: readonly SkillFiles[];
  /** A test for each run; the files have the first ones. */
  readonly tests: readonly SkillTest[];
  readonly parameters: readonly GeneralParameter[];
}

const NAME_CHARS = 64;
const MOST_NAMED = 2;
/** Tests in the files; all are run before a draft is stored. */
const MOST_TESTS = 5;

export type SkillExamples = readonly [SkillExample, ...SkillExample[]];

/** Throws what the programs would be refused with, or REQUEST_INVALID. */
export function draftRuns(runs: SkillExamples, choice: DraftChoice, options: AnalysisOptions): RunDraft {
  const [{ namespaces }] = runs;
  const toRan = (run: SkillExample): RanProgram => ({
    program: toProgram(run, options),
    ...defined({ input: run.input }),
  });
  const [first, ...others] = runs;
  const ran = [toRan(first), ...others.map(toRan)] as const;
  const general = generalize([ran[0], ...ran.slice(1)], { namespaces, keep: choice.keep ?? [] });
  const tools = findTools(
    ran[0].program,
    runs.flatMap(({ calls }) => calls),
  );
  const { name = nameAfter(tools), description = describe(tools) } = choice;
  const tests = runs.map(({ calls, value, start }, at) => ({
    input: general.inputs[at] ?? {},
    calls,
    output: value,
    start,
  }));
  const skill = {
    name,
    description,
    argument: general.argument,
    input: general.input,
    // Another run may leave a field out.
    output: inferSchema(
      runs.map(({ value }) => value),
      { hasRequired: false },
    ),
    needs: tools.map((tool) => ({ tool, reason: `${first.execution} called it` })),
    tests: tests.slice(0, MOST_TESTS),
  };
  const candidates = general.bodies.map((body) => writeSkill({ ...skill, body }));
  const files = tests.map((test, at) => ({ ...test, file: `recorded ${at + 1}` }));
  return { candidates, tests: files, parameters: general.parameters };
}

function toProgram({ source, namespaces }: Pick<SkillExample, "source" | "namespaces">, options: AnalysisOptions) {
  const analyzed = analyze(source, { namespaces }, options);
  if (analyzed.ok) return analyzed.program;
  const { code, message, ...more } = analyzed.error;
  throw new GloveboxError(code, message, defined(more));
}

/** What the program names, and what it called by a computed name. */
function findTools({ calls: planned }: Pick<Program, "calls">, calls: SkillTest["calls"]): readonly string[] {
  const named = planned.flatMap(({ address }) => (address === "dynamic" ? [] : [address]));
  return [...new Set<string>([...named, ...calls.map(({ tool }) => tool)])];
}

/** `inventory.listProducts` becomes `list-products`. */
function nameAfter(tools: readonly string[]): string {
  const words = tools.slice(0, MOST_NAMED).map((tool) =>
    tool
      .slice(tool.indexOf(".") + 1)
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, ""),
  );
  const name = words
    .join("-and-")
    .slice(0, NAME_CHARS)
    .replace(/^[-0-9]+|-+$/g, "");
  if (name !== "") return name;
  throw new GloveboxError("REQUEST_INVALID", "The program calls no tool to name the skill after", {
    hint: "Name it, such as weekly-report",
  });
}

function describe(tools: readonly string[]): string {
  return tools.length === 0
    ? "Computes its result from its arguments."
    : `Does what a program did with ${tools.join(", ")}.`;
}
