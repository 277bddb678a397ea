/** Writes the files of a skill from what is known about it. */

import type { Json, JsonSchema } from "../../domain/index.ts";
import { toPlainJson } from "../../text/index.ts";
import type { SkillFiles, SkillTest } from "../skill.ts";

export interface WrittenSkill {
  readonly name: string;
  readonly description: string;
  readonly argument: string;
  readonly body: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  readonly needs: readonly { readonly tool: string; readonly reason: string }[];
  readonly tests: readonly Omit<SkillTest, "file">[];
}

const INDENT = 2;
const DEPTH = 4;

export function writeSkill(skill: WrittenSkill): SkillFiles {
  const tests = skill.tests.map((test, index) => [`tests/recorded-${index + 1}.json`, `${toPlainJson(test, 2)}\n`]);
  const texts = [["SKILL.md", writeText(skill, describeUse(skill))], ["skill.ts", writeCode(skill)], ...tests];
  return new Map(texts.map(([path = "", text = ""]) => [path, Buffer.from(text)]));
}

/** A JSON string is a string of YAML, too. */
export function writeText({ name, description }: Pick<WrittenSkill, "name" | "description">, more = ""): string {
  const front = `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\n---\n`;
  return `${front}\n${description.trim()}\n${more}`;
}

function describeUse({ input, needs }: Pick<WrittenSkill, "input" | "needs">): string {
  const fields = Object.keys(Object(input["properties"]));
  const takes = fields.length === 0 ? "It takes no arguments." : `It takes ${list(fields)}.`;
  const calls = needs.length === 0 ? "It calls no tool." : `It calls ${list(needs.map(({ tool }) => tool))}.`;
  return `\n${takes} ${calls}\n`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

function writeCode({ argument, body, input, output, needs }: WrittenSkill): string {
  return `import { defineSkill } from "glovebox";

export default defineSkill(
  {
    input: ${indent(input)},
    output: ${indent(output)},
    needs: ${indent({ tools: needs.map((need) => ({ ...need })) })},
  },
  async (${argument}) => {
${body.trimEnd()}
  },
);
`;
}

function indent(value: Json): string {
  return toPlainJson(value, INDENT).replaceAll("\n", `\n${" ".repeat(DEPTH)}`);
}
