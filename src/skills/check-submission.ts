/** Checks the program of a skill before a version is stored: that it compiles, and what it calls. */

import { analyze, planCalls } from "../analysis/index.ts";
import type { AnalysisOptions } from "../analysis/index.ts";
import { GloveboxError, defined } from "../domain/index.ts";
import type { CatalogSnapshot, Namespace, PublicError, Tool } from "../domain/index.ts";
import { findTool } from "./judge-grants.ts";
import type { ProgramReview } from "./review/review.ts";
import type { ParsedSkill, SkillGrant } from "./skill.ts";

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

/** What a program with these grants can do. Throws what it would be refused with. */
export function reviewProgram(
  { program }: Pick<ParsedSkill, "program">,
  grants: readonly SkillGrant[],
  options: AnalysisOptions,
): ProgramReview & { readonly strangers: readonly string[] } {
  const [tools, namespaces] = [toTools(grants), toNamespaces(grants)];
  const analyzed = analyze(program, { namespaces }, options);
  if (!analyzed.ok) throw toError(analyzed.error);
  const { calls, findings, start, unknownNames = [] } = analyzed.program;
  return { findings, plan: planCalls(calls, { tools, namespaces }, start), strangers: unknownNames };
}

/** Throws REQUEST_INVALID for a program that asks for too much or too little. The plan is enforced when it runs. */
export function checkProgram(
  skill: Pick<ParsedSkill, "program">,
  grants: readonly SkillGrant[],
  options: AnalysisOptions,
): void {
  const { plan, strangers } = reviewProgram(skill, grants, options);
  const [stranger] = strangers;
  if (stranger !== undefined) throw refuse(`skill.ts uses ${stranger}, which does not exist`, LIST);
  const extra = plan.calls.find(({ tool }) => grants.every(({ address }) => address !== tool));
  if (extra) throw refuse(`skill.ts calls ${extra.tool}, which needs.tools does not list`, LIST);
  const unused = grants.find(({ address }) => !plan.calls.some(({ tool }) => tool === address));
  if (unused && plan.exact)
    throw refuse(`needs.tools lists ${unused.address}, which skill.ts never calls`, "Ask only for what it calls");
}

const LIST = "List every tool that it calls in needs.tools, and nothing else";

/** The names of servers and tools that the program sees. */
export function toNamespaces(grants: readonly SkillGrant[]): readonly Namespace[] {
  const byName = Map.groupBy(grants, ({ address }) => address.slice(0, address.indexOf(".")));
  return [...byName].flatMap(([name, own]) => {
    const tools = own.map(({ address }) => address.slice(name.length + 1));
    const [first] = own;
    return first ? [{ name, connector: first.connector, summary: "", tools }] : [];
  });
}

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
