/** Checks one program against one API: whether a check is needed, and what its result means for the program. */

import type { AnalysisResult } from "../analysis/index.ts";
import type { ApiSurface, Finding, Program, ToolGuide } from "../domain/index.ts";
import { explain } from "./explain.ts";
import type { Checker } from "./open-checker.ts";
import type { Mistake } from "./wire.ts";

export interface CheckContext {
  readonly checker: Pick<Checker, "check">;
  readonly guide: ToolGuide;
  /** The operator's setting; `off` skips the check. */
  readonly level: "error" | "warn" | "off";
  /** Whether a finding of level error blocks the program. */
  readonly blocks: boolean;
}

/** The most tools named in the finding about unchecked types. */
const MAX_NAMED = 3;

/** Returns the same program with findings added: what was checked is what runs. */
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

/** Unknown names may be misspelled servers, a server may be mentioned without a call, and secrets are declared too. */
function reachesTools({ calls, unknownNames = [], checkable }: Program, { namespaces }: ApiSurface): boolean {
  if (calls.length > 0 || unknownNames.length > 0) return true;
  return checkable.includes("secrets") || namespaces.some(({ name }) => checkable.includes(name));
}

/** A server that is down has no tools. That is not a mistake of the program, and the call reports the reason. */
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

/** Without this finding, an unchecked program would look like a checked one. */
function toLooseFindings({ loose = [] }: ApiSurface): readonly Finding[] {
  if (loose.length === 0) return [];
  const more = loose.length > MAX_NAMED ? ` and ${loose.length - MAX_NAMED} more` : "";
  const names = `${loose.slice(0, MAX_NAMED).join(", ")}${more}`;
  return [toFinding(`The types of ${names} were not checked: the program can reach too many tools to declare`)];
}

function toFinding(message: string): Finding {
  return { rule: "types", severity: "warn", message, line: 1, column: 1 };
}
