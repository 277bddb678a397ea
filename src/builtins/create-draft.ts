/** `glovebox.skills.draft`: a program proposes a skill. It changes what reviewers see, so rules decide about it. */

import { createBuiltinTool } from "../bridge/index.ts";
import type { Builtin } from "../bridge/index.ts";
import type { Json, JsonObject, JsonSchema, Tool } from "../domain/index.ts";

export interface ProposedSkill {
  readonly name: string;
  readonly description: string;
  readonly from?: string | undefined;
  readonly keep?: readonly string[] | undefined;
  readonly code?: string | undefined;
}

export interface DraftBuiltinPowers {
  /** Stores the draft. Rejects with what is wrong with it; then nothing is stored. */
  readonly draft: (skill: ProposedSkill) => Promise<{
    readonly name: string;
    readonly version: number;
    readonly state: string;
    readonly parameters?: readonly { readonly name: string; readonly value: Json }[];
  }>;
  /** Applies what the operator configured about its effect and labels. */
  readonly state?: (tool: Tool) => Tool;
}

const CODE_CHARS = 256 * 1024;
const LINE: JsonSchema = { type: "string", maxLength: 1_024 };
const INPUT: JsonSchema = {
  type: "object",
  properties: {
    name: { ...LINE, minLength: 1 },
    description: { ...LINE, minLength: 1 },
    from: LINE,
    keep: { type: "array", items: LINE, maxItems: 100 },
    code: { type: "string", maxLength: CODE_CHARS },
  },
  required: ["name", "description"],
  additionalProperties: false,
};
const TOOL: Tool = { ...createBuiltinTool("skills.draft", INPUT), effect: "write" };

export function createDraft({ draft, state = (tool) => tool }: DraftBuiltinPowers): Builtin {
  return {
    tool: TOOL,
    judge: () => state(TOOL),
    answerDryRun: ({ name }) => ({
      skill: name ?? "",
      version: 0,
      state: "dry run",
      next: "A dry run stores no draft",
    }),
    noteCall: ({ name }) => ({ name: name ?? "" }),
    async answer(args) {
      const { name, version, state: reached, parameters } = await draft(parseProposal(args));
      const known = parameters && Object.fromEntries(parameters.map((one) => [one.name, one.value]));
      const next = `A person reviews it with \`glovebox skills show ${name}\`; until then call the tools themselves`;
      return { skill: name, version, state: reached, ...(known && { parameters: known }), next };
    },
  };
}

/** The bridge has checked the schema. */
function parseProposal({ name, description, from, keep, code }: JsonObject): ProposedSkill {
  const texts = Array.isArray(keep) ? keep.filter((one: Json) => typeof one === "string") : undefined;
  const [wanted, said, execution, text] = [name, description, from, code].map(parseText);
  return { name: wanted ?? "", description: said ?? "", from: execution, keep: texts, code: text };
}

function parseText(raw: Json | undefined): string | undefined {
  return typeof raw === "string" ? raw : undefined;
}
