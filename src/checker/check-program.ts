/**
 * Checks one program against one API: whether a check is needed, and what its result means for the program. Mistakes
 * become findings and one error for the author: what is wrong, where, and the signature to use.
 */

import { createLocator, frameAt } from "../analysis/index.ts";
import type { AnalysisResult } from "../analysis/index.ts";
import { ERRORS } from "../domain/index.ts";
import type { ApiSurface, Finding, Program, PublicError, ToolGuide } from "../domain/index.ts";
import type { CheckRequest, CheckResult, Checker } from "./open-checker.ts";
import { cut, explainSpelled, fixedLines, respell, suggest } from "./explain-spelled.ts";
import type { Fix, Mistake } from "./wire.ts";

export interface CheckContext {
  readonly checker: Pick<Checker, "check" | "recall">;
  /** Whose program it is. */
  readonly principal: CheckRequest["principal"];
  readonly guide: ToolGuide;
  /** The operator's setting; `off` skips the check. */
  readonly level: "error" | "warn" | "off";
  /** Whether a finding of level error blocks the program. */
  readonly blocks: boolean;
}

/** The most tools named in the finding about unchecked types. */
const MAX_NAMED = 3;

/** Returns the same program with findings added: what was checked is what runs. A promise unless the result is known. */
export function checkProgram(
  program: Program,
  surface: ApiSurface,
  context: CheckContext,
): AnalysisResult | Promise<AnalysisResult> {
  const { checker, principal, level } = context;
  if (level === "off" || !reachesTools(program, surface)) return { ok: true, program };
  const judgeAs = { ...context, level };
  const request = { text: program.checkable, surface, principal };
  const known = checker.recall(request);
  if (known) return toVerdict(program, surface, known, judgeAs);
  return checker.check(request).then((checked) => toVerdict(program, surface, checked, judgeAs));
}

function toVerdict(
  program: Program,
  surface: ApiSurface,
  checked: CheckResult,
  { guide, level, blocks }: CheckContext & { readonly level: "error" | "warn" },
): AnalysisResult {
  if (checked.kind === "unchecked") return withFindings(program, [toFinding(checked.reason)]);
  const mistakes = checked.mistakes.filter(
    (mistake) => !isAway(mistake, surface) && !(mistake.kind === "unknown-tool" && guide.isWithheld(mistake.name)),
  );
  const { findings: found, error } = explain(program, mistakes, { guide, level, secrets: surface.secrets ?? [] });
  const findings = [...found, ...toLooseFindings(surface)];
  if (error && blocks) return { ok: false, error, findings: [...program.findings, ...findings] };
  return withFindings(program, findings);
}

/** Unknown names may be misspelled servers, a server may be mentioned without a call, and two globals are declared too. */
function reachesTools(
  { calls, unknownNames = [], spelled = [], checkable }: Program,
  { namespaces }: ApiSurface,
): boolean {
  if (calls.length > 0 || unknownNames.length > 0 || spelled.length > 0) return true;
  if (checkable.includes("secrets") || checkable.includes("glovebox")) return true;
  return namespaces.some(({ name }) => checkable.includes(name));
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

/** No server can have this name. */
const SECRETS = "secrets.";

interface ExplainedMistake extends Finding {
  readonly hint: string;
}

const RULE = "types";
const MESSAGE_CHARS = 240;
/** The limit on message, hint and frame together. */
const ANSWER_CHARS = 1_500;

/** In the order of the mistakes. `error` is set if any finding has level error; with level `warn` none has. */
function explain(
  program: Program,
  mistakes: readonly Mistake[],
  { guide, level, secrets }: { guide: ToolGuide; level: "error" | "warn"; secrets: readonly string[] },
): { readonly findings: readonly Finding[]; readonly error?: PublicError } {
  const locate = createLocator(program.source);
  const toHint = (mistake: Mistake): string =>
    isSecret(mistake) ? listSecrets(secrets) : toToolHint(mistake, { mistakes, source: program.source, guide });
  const spelled = explainSpelled(program, guide);
  const isSpelled = ({ start }: Mistake): boolean => spelled.some((one) => start >= one.start && start < one.end);
  const answers = mistakes
    .filter((mistake) => !isSpelled(mistake) && (mistake.kind !== "unknown-name" || isOurs(mistake, program, guide)))
    .map((mistake): ExplainedMistake => {
      const isDoubtful = mistake.doubtful || (mistake.kind === "unknown-field" && guide.isGuessed(mistake.tool ?? ""));
      const severity = level === "warn" || isDoubtful ? "warn" : "error";
      const message = cut(toMessage(mistake), MESSAGE_CHARS);
      return { rule: RULE, severity, message, ...locate(mistake.start), hint: toHint(mistake) };
    })
    .concat(
      spelled.map(({ start, message, hint }) => ({
        rule: RULE,
        severity: level,
        message: cut(message, MESSAGE_CHARS),
        ...locate(start),
        hint,
      })),
    )
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
  const findings = answers.map(({ hint: _hint, ...finding }) => finding);
  const first = answers.find(({ severity }) => severity === "error");
  return first ? { findings, error: toError(first, answers, program.source) } : { findings };
}

function isSecret({ kind, name }: Mistake): boolean {
  return kind === "unknown-tool" && name.startsWith(SECRETS);
}

function listSecrets(names: readonly string[]): string {
  const granted = names.map((name) => SECRETS + name).join(", ");
  return `${granted === "" ? "No secrets are granted" : `Granted: ${granted}`}; an operator can grant more with sandbox.secrets`;
}

/** An undeclared function counts as a misspelled tool only if a tool has that name. */
function isOurs(
  { name, detail }: Mistake,
  { unknownNames = [] }: Pick<Program, "unknownNames">,
  guide: ToolGuide,
): boolean {
  if (!unknownNames.includes(detail)) return false;
  if (name.includes(".")) return true;
  return guide.find([name]) !== undefined;
}

function toError(first: ExplainedMistake, answers: readonly ExplainedMistake[], source: string): PublicError {
  const { line, column } = first;
  const frame = frameAt(source, line, column);
  const others = answers.filter(({ severity }) => severity === "error").length - 1;
  const message = `${first.message}${others > 0 ? `, and ${others} more in the findings` : ""}`;
  const hint = first.hint.slice(0, Math.max(0, ANSWER_CHARS - message.length - frame.length)).toWellFormed();
  return { code: "PROGRAM_TYPES", message, retry: ERRORS.PROGRAM_TYPES.retry, hint, line, column, frame };
}

function toMessage({ kind, name, detail, tool = "" }: Mistake): string {
  switch (kind) {
    case "unknown-tool":
      return name.startsWith(SECRETS)
        ? `No secret ${name.slice(SECRETS.length)} is granted to this program`
        : `The API has no tool ${name}`;
    case "unknown-name":
      return name === detail
        ? `The sandbox has no function ${name}`
        : `The sandbox has no global ${detail}, so no ${name}`;
    case "argument":
      return `${tool}: ${detail}`;
    case "missing-await":
      return `${detail} is a promise${name === "" ? "" : ` and has no ${name}`}; await it first`;
    case "unknown-field":
      return `${detail} has no ${name}${tool === "" ? "" : `; ${tool} declares what it returns`}`;
    case "not-callable":
      return detail === "" ? `${name} is not a function` : detail;
    case "not-iterable":
      return `${name} is an object, not an array${tool === "" ? "" : `; ${tool} declares what it returns`}`;
    case "never-equal":
      return `${detail}, never ${name}${tool === "" ? "" : `; ${tool} declares what it returns`}`;
    default:
      return kind satisfies never;
  }
}

const ADVICE_CHARS = 400;

/** The fixes of the lines that a fix is in, as far as they do not overlap: the next program has all of them. */
function fixesBeside(fix: Fix, mistakes: readonly Mistake[], source: string): readonly Fix[] {
  const from = source.lastIndexOf("\n", fix.start - 1) + 1;
  const end = source.indexOf("\n", fix.end);
  const to = end < 0 ? source.length : end;
  const others = mistakes.flatMap((one) => (one.fix && !one.loopFix && !one.doubtful ? [one.fix] : []));
  const inLines = others.filter((one) => one !== fix && one.start >= from && one.end <= to);
  return [fix, ...inLines]
    .toSorted((a, b) => a.start - b.start)
    .filter((one, at, all) => one === fix || !all.some((other, place) => place !== at && overlaps(one, other)));
}

function overlaps(a: Fix, b: Fix): boolean {
  return a.start < b.end && b.start < a.end;
}

interface HintContext {
  readonly mistakes: readonly Mistake[];
  readonly source: string;
  readonly guide: ToolGuide;
}

function toToolHint(mistake: Mistake, { mistakes, source, guide }: HintContext): string {
  const { kind, name, tool, type, advice, fix, loopFix } = mistake;
  if (kind === "missing-await" && !fix) return "Make the function around it async and await the promise";

  if (kind === "unknown-tool" || kind === "unknown-name")
    return respell(mistake, source, guide) ?? suggest(name, guide);
  if (fix) return `Write: ${fixedLines(source, loopFix ? [loopFix, fix] : fixesBeside(fix, mistakes, source))}`;
  if (advice !== undefined) return cut(advice, ADVICE_CHARS);
  if (tool !== undefined && kind === "argument") {
    const call = guide.call(tool);
    if (call !== undefined) return `The call is ${call}`;
  }
  const result = tool === undefined ? undefined : guide.result(tool);
  return type ?? result ?? "Read the declarations with describe";
}
