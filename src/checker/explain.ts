/** Turns mistakes into findings and into one error for the author: what is wrong, where, and the signature to use. */

import { createLocator, frameAt, toPrintable } from "../analysis/index.ts";
import { ERRORS } from "../domain/index.ts";
import type { Finding, Program, PublicError, ToolGuide } from "../domain/index.ts";
import type { Fix, Mistake } from "./wire.ts";

/** `error` is set if any finding has level error. */
export interface Explanation {
  readonly findings: readonly Finding[];
  readonly error?: PublicError;
}

/** `level` is the operator's setting; with `warn` nothing is blocked. */
export interface ExplainContext {
  readonly guide: ToolGuide;
  readonly level: "error" | "warn";
  /** The names of the secrets that the program has. */
  readonly secrets?: readonly string[];
}

/** No server can have this name. */
const SECRETS = "secrets.";

interface ExplainedMistake extends Finding {
  readonly hint: string;
}

const RULE = "types";
const NEAREST = 3;
const MESSAGE_CHARS = 240;
const FIXED_LINE_CHARS = 200;
/** The limit on message, hint and frame together. */
const ANSWER_CHARS = 1_500;

/** In the order of the mistakes. */
export function explain(
  program: Pick<Program, "source" | "unknownNames">,
  mistakes: readonly Mistake[],
  { guide, level, secrets = [] }: ExplainContext,
): Explanation {
  const locate = createLocator(program.source);
  const toHint = (mistake: Mistake): string =>
    isSecret(mistake) ? listSecrets(secrets) : toToolHint(mistake, program.source, guide);
  const answers = mistakes
    .filter((mistake) => mistake.kind !== "unknown-name" || isOurs(mistake, program, guide))
    .map((mistake): ExplainedMistake => {
      const isDoubtful = mistake.doubtful || (mistake.kind === "unknown-field" && guide.isGuessed(mistake.tool ?? ""));
      const severity = level === "warn" || isDoubtful ? "warn" : "error";
      const message = cut(toMessage(mistake), MESSAGE_CHARS);
      return { rule: RULE, severity, message, ...locate(mistake.start), hint: toHint(mistake) };
    });
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
  const [nearest] = guide.nearest(name);
  if (nearest === undefined) return false;
  const method = nearest.slice(nearest.indexOf(".") + 1);
  return fold(method) === fold(name) || fold(nearest) === fold(name);
}

function fold(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function toError(first: ExplainedMistake, answers: readonly ExplainedMistake[], source: string): PublicError {
  const { line, column } = first;
  const frame = frameAt(source, line, column);
  const others = answers.filter(({ severity }) => severity === "error").length - 1;
  const message = `${first.message} (line ${line})${others > 0 ? `, and ${others} more in the findings` : ""}`;
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
    default:
      return kind satisfies never;
  }
}

function toToolHint({ kind, name, tool, type, fix }: Mistake, source: string, guide: ToolGuide): string {
  if (kind === "missing-await") {
    return fix ? `Write: ${fixedLine(source, fix)}` : "Make the function around it async and await the promise";
  }
  if (kind === "unknown-tool" || kind === "unknown-name") return suggest(name, guide);
  if (tool !== undefined && kind === "argument") {
    const call = guide.call(tool);
    if (call !== undefined) return `The call is ${call}`;
  }
  const signature = tool === undefined ? undefined : guide.signature(tool);
  return type ?? signature ?? "Read the declarations with describe";
}

/** Suggests names; never replaces what the author wrote. */
function suggest(name: string, guide: ToolGuide): string {
  const nearest = guide.nearest(name).slice(0, NEAREST);
  const [first] = nearest;
  if (first === undefined) return "Use search to find tools";
  return `Did you mean ${nearest.join(", ")}?\n${guide.signature(first) ?? ""}`.trimEnd();
}

function fixedLine(source: string, { start, end, text }: Fix): string {
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = source.indexOf("\n", end);
  const line = source.slice(from, start) + text + source.slice(end, lineEnd < 0 ? source.length : lineEnd);
  return cut(line.trim(), FIXED_LINE_CHARS);
}

/** Shortens text that contains names and types of the program. */
function cut(text: string, chars: number): string {
  const line = toPrintable(text.replace(/\s+/gu, " "));
  return line.length > chars ? `${line.slice(0, chars - 1).toWellFormed()}…` : line;
}
