/** Checks the program of a skill before a version is stored: that it compiles, and what it calls. */

import { analyze, planCalls } from "../analysis/index.ts";
import type { AnalysisOptions } from "../analysis/index.ts";
import { GloveboxError, defined } from "../domain/index.ts";
import type { CallPlan, CatalogSnapshot, Finding, PublicError, Tool } from "../domain/index.ts";
import { findTool } from "./judge-grants.ts";
import type { ParsedSkill, SkillGrant } from "./skill.ts";

export interface SkillReview {
  readonly findings: readonly Finding[];
  readonly plan: CallPlan;
}

/** The tools that a skill asks for, as they are now. Throws REQUEST_INVALID for one that does not exist. */
export function bindGrants({ requests }: Pick<ParsedSkill, "requests">, snapshot: CatalogSnapshot): SkillGrant[] {
  return requests.map(({ tool: address }) => {
    const tool = findTool(snapshot, address);
    if (!tool) throw notOffered(address, snapshot);
    const { origin, digest: definition, effect } = tool;
    return { address, connector: origin.connector, remoteName: origin.remoteName, definition, effect };
  });
}

function notOffered(address: SkillGrant["address"], { refused }: CatalogSnapshot): GloveboxError {
  const refusal = refused?.get(address);
  const message = `The skill asks for ${address}, which no server offers`;
  return new GloveboxError("REQUEST_INVALID", refusal ? `The skill asks for ${refusal.message}` : message, {
    hint: "`glovebox tools` lists the tools; remove it from needs.tools, or connect its server",
  });
}

/**
 * Throws what a program with this source would be refused with, or REQUEST_INVALID if it asks for too much or too little.
 * The plan is enforced when it runs.
 */
export function reviewProgram(
  { program }: Pick<ParsedSkill, "program">,
  grants: readonly SkillGrant[],
  options: AnalysisOptions,
): SkillReview {
  const tools = toTools(grants);
  const names = [...new Set(grants.map(({ address }) => address.slice(0, address.indexOf("."))))];
  const namespaces = names.flatMap((name) => {
    const connector = grants.find(({ address }) => address.startsWith(`${name}.`))?.connector;
    const own = [...tools.keys()].filter((address) => address.startsWith(`${name}.`));
    return connector ? [{ name, connector, summary: "", tools: own.map((one) => one.slice(name.length + 1)) }] : [];
  });
  const analyzed = analyze(program, { namespaces }, options);
  if (!analyzed.ok) throw toError(analyzed.error);
  const { calls, findings, start, unknownNames = [] } = analyzed.program;
  const plan = planCalls(calls, { tools, namespaces }, start);
  const [stranger] = unknownNames;
  if (stranger !== undefined) throw refuse(`skill.ts uses ${stranger}, which does not exist`, LIST);
  const extra = plan.calls.find(({ tool }) => !tools.has(tool));
  if (extra) throw refuse(`skill.ts calls ${extra.tool}, which needs.tools does not list`, LIST);
  const unused = grants.find(({ address }) => !plan.calls.some(({ tool }) => tool === address));
  if (unused && plan.exact)
    throw refuse(`needs.tools lists ${unused.address}, which skill.ts never calls`, "Ask only for what it calls");
  return { findings, plan };
}

const LIST = "List every tool that it calls in needs.tools, and nothing else";

/** The tools as they were granted: what a review shows depends on nothing that may change after it. */
function toTools(grants: readonly SkillGrant[]): ReadonlyMap<SkillGrant["address"], Tool> {
  return new Map(
    grants.map(({ address, connector, remoteName, definition: digest, effect }) => {
      const origin = { kind: "upstream", connector, remoteName } as const;
      const shown = { summary: "", description: "", input: {}, output: null };
      return [address, { address, origin, effect, digest, ...shown }];
    }),
  );
}

function refuse(message: string, hint: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, { hint });
}

function toError({ code, message, hint, line, column, frame }: PublicError): GloveboxError {
  return new GloveboxError(code, `skill.ts: ${message}`, defined({ hint, line, column, frame }));
}
