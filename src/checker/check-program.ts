/** One program against one API: whether to ask at all, and what the answer means for the program. */

import type { AnalysisResult } from "../analysis/index.ts";
import type { ApiSurface, Finding, Program, ToolGuide } from "../domain/index.ts";
import { explain } from "./explain.ts";
import type { Checker } from "./open-checker.ts";
import type { Mistake } from "./wire.ts";

export interface CheckContext {
  readonly checker: Pick<Checker, "check">;
  readonly guide: ToolGuide;
  /** The operator's choice; with `off` nothing is asked. */
  readonly level: "error" | "warn" | "off";
  /** Whether a finding of level error holds the program back. */
  readonly blocks: boolean;
}

/** Of the tools whose types were not checked. */
const MAX_NAMED = 3;

/** What comes out is the program that went in, with findings added: what was checked is what runs. */
export async function checkProgram(
  program: Program,
  surface: ApiSurface,
  context: CheckContext,
): Promise<AnalysisResult> {
  const { checker, guide, level, blocks } = context;
  if (level === "off" || !reachesTools(program, surface)) return { ok: true, program };
  const checked = await checker.check({ text: program.checkable, surface });
  if (checked.kind === "unchecked") return withFindings(program, [toFinding(checked.reason)]);
  const mistakes = checked.mistakes.filter(
    (mistake) => !isAway(mistake, surface) && !(mistake.kind === "unknown-tool" && guide.isWithheld(mistake.name)),
  );
  const { findings: found, error } = explain(program, mistakes, { guide, level, secrets: surface.secrets ?? [] });
  const findings = [...found, ...toLooseFindings(surface)];
  if (error && blocks) return { ok: false, error, findings: [...program.findings, ...findings] };
  return withFindings(program, findings);
}

/** A name that nothing is called may have been meant as a server; a server may be used in a way that reaches no tool. Secrets are declared, too. */
function reachesTools({ calls, unknownNames = [], checkable }: Program, { namespaces }: ApiSurface): boolean {
  if (calls.length > 0 || unknownNames.length > 0) return true;
  return checkable.includes("secrets") || namespaces.some(({ name }) => checkable.includes(name));
}

/** A server that is down has no tools; that is not the program's fault, and the call says what is the matter. */
function isAway({ kind, name }: Mistake, { namespaces }: ApiSurface): boolean {
  const namespace = kind === "unknown-tool" && namespaces.find((one) => name.startsWith(`${one.name}.`));
  return namespace !== false && namespace?.tools.length === 0;
}

function withFindings(program: Program, found: readonly Finding[]): AnalysisResult {
  return {
    ok: true,
    program: found.length === 0 ? program : { ...program, findings: [...program.findings, ...found] },
  };
}

/** Silence would look like a check that was passed. */
function toLooseFindings({ loose = [] }: ApiSurface): readonly Finding[] {
  if (loose.length === 0) return [];
  const more = loose.length > MAX_NAMED ? ` and ${loose.length - MAX_NAMED} more` : "";
  const names = `${loose.slice(0, MAX_NAMED).join(", ")}${more}`;
  return [toFinding(`The types of ${names} were not checked: what this program can reach is too large to declare`)];
}

function toFinding(message: string): Finding {
  return { rule: "types", severity: "warn", message, line: 1, column: 1 };
}
