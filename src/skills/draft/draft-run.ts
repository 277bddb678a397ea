/** Turns a finished execution into the files of a skill: its literals are parameters, and its recording is the first test. */

import { analyze } from "../../analysis/index.ts";
import type { AnalysisOptions } from "../../analysis/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type { ExecutionId, Json, Namespace, PrincipalId, Program } from "../../domain/index.ts";
import type { SkillFiles, SkillTest } from "../skill.ts";
import { generalize } from "./generalize.ts";
import type { DraftParameter } from "./generalize.ts";
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
  readonly parameters: readonly DraftParameter[];
}

const NAME_CHARS = 64;
const MOST_NAMED = 2;

/** Throws what its program would be refused with, or REQUEST_INVALID. */
export function draftRun(run: SkillExample, choice: DraftChoice, options: AnalysisOptions): RunDraft {
  const { namespaces, input, calls, value, start, execution } = run;
  const program = toProgram(run, options);
  const { keep = [] } = choice;
  const isWanted = (literal: { readonly isParameter: boolean; readonly name: string }): boolean =>
    literal.isParameter && !keep.includes(literal.name);
  const general = generalize(program, { namespaces, input, isWanted });
  const tools = findTools(program, calls);
  const { name = nameAfter(tools), description = describe(tools) } = choice;
  const skill = {
    name,
    description,
    argument: general.argument,
    input: general.input,
    output: inferSchema([value]),
    needs: tools.map((tool) => ({ tool, reason: `${execution} called it` })),
    tests: [{ input: general.values, calls, output: value, start }],
  };
  const candidates = general.bodies.map((body) => writeSkill({ ...skill, body }));
  return { candidates, parameters: general.parameters };
}

export function toProgram(
  { source, namespaces }: Pick<SkillExample, "source" | "namespaces">,
  options: AnalysisOptions,
) {
  const analyzed = analyze(source, { namespaces }, options);
  if (analyzed.ok) return analyzed.program;
  const { code, message, ...more } = analyzed.error;
  throw new GloveboxError(code, message, defined(more));
}

/** What the program names, and what it called by a computed name. */
export function findTools({ calls: planned }: Pick<Program, "calls">, calls: SkillTest["calls"]): readonly string[] {
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
