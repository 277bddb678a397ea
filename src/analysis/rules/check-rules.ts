/** Runs the rules over a program and decides which findings stop it. */

import type { Finding } from "../../domain/index.ts";
import type { SourcePosition } from "../locate.ts";
import { cutMessage } from "../locate.ts";
import type { SourceComplaint } from "../locate.ts";
import { noDangerousGlobals, noEval } from "./forbidden-globals.ts";
import { noDynamicImport, noExternalImport } from "./imports.ts";
import { noInfiniteLoop, noNestedLoops } from "./loops.ts";
import { noInvisibleCharacters } from "./no-invisible-characters.ts";
import { noPrototypePollution } from "./no-prototype-pollution.ts";
import { noToolInLoop } from "./no-tool-in-loop.ts";
import { noUnawaitedCall, noUnhandledAsync } from "./unawaited.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

export type RuleSetting = "error" | "warn" | "off";

/** The operator's settings; a program cannot change them. */
export interface RuleSettings {
  readonly enabled: boolean;
  readonly blockOnError: boolean;
  readonly rules: Readonly<Record<string, RuleSetting>>;
}

/** `block` is the first finding that stops the program, if any. */
export interface RuleResult {
  readonly findings: readonly Finding[];
  readonly block: SourceComplaint | undefined;
}

/** Long sources are mostly data. The hard limit is `sourceBytes`. */
const maxSourceSize: AnalysisRule = {
  name: "max-source-size",
  severity: "warn",
  check: ({ source, sourceBytes }) => {
    const most = Math.floor(sourceBytes / 4);
    if (Buffer.byteLength(source, "utf8") <= most) return [];
    const message = `the source is larger than ${most} bytes, a quarter of what can run`;
    return [{ offset: 0, message, fix: "give data as `input` or let a tool fetch it" }];
  },
};

const RULES: readonly AnalysisRule[] = [
  noExternalImport,
  noDynamicImport,
  noEval,
  noDangerousGlobals,
  noPrototypePollution,
  noInfiniteLoop,
  noNestedLoops,
  noToolInLoop,
  noUnhandledAsync,
  noUnawaitedCall,
  noInvisibleCharacters,
  maxSourceSize,
];

/** Rules with fatal objections: they run even if they are off. */
const FATAL_RULES: ReadonlySet<string> = new Set([noExternalImport.name, noDynamicImport.name]);

export const DEFAULT_RULES: Readonly<Record<string, RuleSetting>> = Object.freeze(
  Object.fromEntries(RULES.map(({ name, severity }) => [name, severity])),
);

/** More findings do not help, and a hostile source could cause tens of thousands. Errors are kept first. */
const MAX_FINDINGS = 100;

interface JudgedObjection extends Objection {
  readonly rule: string;
  /** With `off`, a fatal objection still blocks but is not listed as a finding. */
  readonly severity: RuleSetting;
  readonly blocks: boolean;
}

/** Fatal objections refuse the program with any settings. */
export function checkRules(
  syntax: ProgramSyntax,
  settings: RuleSettings,
  locate: (offset: number) => SourcePosition,
): RuleResult {
  const judged = RULES.flatMap((rule) => judge(rule, syntax, settings));
  const kept = judged
    .toSorted((a, b) => Number(b.severity === "error") - Number(a.severity === "error") || a.offset - b.offset)
    .slice(0, MAX_FINDINGS)
    .toSorted((a, b) => a.offset - b.offset);
  const first = kept.find(({ blocks }) => blocks);
  return {
    findings: kept.flatMap(({ rule, severity, message, fix, offset }): Finding[] =>
      severity === "off"
        ? []
        : [{ rule, severity, message: cutMessage(`${capitalize(message)}; ${fix}`), ...locate(offset) }],
    ),
    block: first && toComplaint(first),
  };
}

function judge(rule: AnalysisRule, syntax: ProgramSyntax, settings: RuleSettings): readonly JudgedObjection[] {
  const chosen = Object.hasOwn(settings.rules, rule.name) ? settings.rules[rule.name] : undefined;
  const setting = settings.enabled ? (chosen ?? rule.severity) : "off";
  if (setting === "off" && !FATAL_RULES.has(rule.name)) return [];
  return rule.check(syntax).flatMap((objection): JudgedObjection[] => {
    if (setting === "off" && !objection.fatal) return [];
    const severity = objection.isChange && chosen === undefined && settings.enabled ? "error" : setting;
    const blocks = objection.fatal === true || (severity === "error" && settings.blockOnError);
    const offset = objection.inSource ? objection.offset : syntax.toAuthor(objection.offset);
    return [{ ...objection, offset, rule: rule.name, severity, blocks }];
  });
}

function toComplaint({ rule, message, offset, fix }: JudgedObjection): SourceComplaint {
  return { message: `${rule}: ${message}`, offset, hint: capitalize(fix) };
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
