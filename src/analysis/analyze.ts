/**
 * Turns source text into a program that can run, or into the reason why it cannot. Pure: it runs no code, reads no clock
 * and keeps no state. It helps authors early and is not a security boundary; the sandbox holds without it.
 */

import { ERRORS, GloveboxError, defined, describeError } from "../domain/index.ts";
import type { Finding, Limits, Program, PublicError } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { createRecent } from "../timing/index.ts";
import { chooseRoute } from "./choose-route.ts";
import { checkRules } from "./rules/check-rules.ts";
import type { RuleSettings } from "./rules/check-rules.ts";
import { checkSize } from "./prepare/check-size.ts";
import { readSyntax } from "./program-syntax.ts";
import type { KnownApi } from "./program-syntax.ts";
import { dropParameters } from "./prepare/drop-parameters.ts";
import type { Timebox } from "./typescript/erase-types.ts";
import { findCalls } from "./plan/find-calls.ts";
import { findLooseReads } from "./plan/find-loose-reads.ts";
import { findLostEntries } from "./plan/find-lost-entries.ts";
import { findReads } from "./plan/find-reads.ts";
import { countStart } from "./plan/find-start.ts";
import { findSpelled } from "./plan/find-spelled.ts";
import type { ProgramNames } from "./resolve-scopes.ts";
import { blankHashbang, joinInsertions, withoutInsertions } from "./edit-text.ts";
import { wrapLastObject } from "./prepare/last-object.ts";
import { createLocator } from "./locate.ts";
import {
  LANGUAGE_HINT,
  explainLanguage,
  findKeywordArgument,
  isCommand,
  nameLanguage,
} from "./prepare/name-language.ts";
import { normalize, toCheckable } from "./prepare/normalize.ts";
import { refuse } from "./locate.ts";
import { stripTypes } from "./typescript/strip-types.ts";
import type { StrippedProgram } from "./parse-javascript.ts";
import type { StripBounds } from "./typescript/strip-types.ts";
import { explainAwait } from "./prepare/explain-await.ts";
import { findOpenFence, unwrapFence } from "./prepare/unwrap-fence.ts";

/** A refusal carries all findings so far, so that the author can fix them at once. */
export type AnalysisResult =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly error: PublicError; readonly findings: readonly Finding[] };

/** The operator's settings; `enabled: false` skips the rules, not the parsing. */
export interface AnalysisOptions extends RuleSettings {
  readonly limits: Pick<Limits, "sourceBytes">;
  /** Stops the type stripper when it takes too long. Without it, only the estimate before the start protects. */
  readonly timebox?: Timebox;
}

/** Never throws, whatever the source is. */
export function analyze(source: string, surface: KnownApi, options: AnalysisOptions): AnalysisResult {
  const findings: Finding[] = [];
  try {
    return { ok: true, program: buildProgram(source, surface, { ...options, findings }) };
  } catch (thrown) {
    return { ok: false, error: toRefusal(thrown), findings };
  }
}

function buildProgram(
  source: string,
  api: KnownApi,
  options: AnalysisOptions & { readonly findings: Finding[] },
): Program {
  const { namespaces } = api;
  const nesting = checkSize(source, options.limits);
  const locate = createLocator(source);
  // A lone surrogate does not survive transport or hashing; as U+FFFD it is the same everywhere.
  const unwrapped = unwrapFence(source.toWellFormed());
  const note = (message: string, offset: number, severity: "info" | "warn" = "info"): void =>
    void options.findings.push({ rule: "normalized", severity, message, ...locate(offset) });
  if (unwrapped.opened !== undefined) {
    const dropped = unwrapped.hadProse ? ", and so was the text around it" : "";
    note(`The markdown fence around the program was removed${dropped}`, unwrapped.opened);
  }
  const whole = blankHashbang(unwrapped.text);
  const bounds = { visits: nesting.visits, tokens: nesting.tokens, timebox: options.timebox };
  const given = stripOrName(unwrapped.text, {
    source,
    namespaces,
    strip: () => strip(whole, bounds, note),
    parse: (text) => stripTypes(text, bounds),
  });
  const called = dropParameters(given, whole, new Set(namespaces.map(({ name }) => name)));
  const { stripped, tree, text } = called;
  if (called.note) note(called.note.message, called.note.offset, called.note.severity);
  const toAuthor = (offset: number): number => withoutInsertions(stripped.insertions, offset);
  const { sourceBytes } = options.limits;
  const syntax = readSyntax({ source, tree, api, sourceBytes, toAuthor });
  const keyword = findKeywordArgument(syntax);
  if (keyword) throw refuseLanguage("Python", { source, namespaces, offset: toAuthor(keyword.start) });
  const unknownNames = findUnknownNames(syntax.globals, syntax.namespaces);
  if (isCommand(source, unknownNames)) throw refuseLanguage("a shell script", { source, namespaces, offset: 0 });
  const checked = checkRules(syntax, options, locate);
  options.findings.push(...checked.findings);
  if (checked.block) throw refuse("PROGRAM_FORBIDDEN", source, checked.block);
  const { javascript, insertions: added, notes } = normalize(stripped.text, tree);
  for (const { message, offset } of notes) note(message, toAuthor(offset));
  if (options.enabled && source.includes("stringify")) options.findings.push(...findLostEntries(syntax, locate));
  const reads = options.enabled ? [...findReads(syntax, locate), ...findLooseReads(syntax, locate)] : [];
  const start = countStart(syntax);
  const spelled = findSpelled(syntax, unknownNames);
  const mentioned = findMentioned(syntax.globals, namespaces);
  return defined({
    digest: digestOf(javascript),
    source,
    checkable: toCheckable(text, tree, toAuthor),
    javascript,
    insertions: joinInsertions(stripped.insertions, added),
    calls: findCalls(syntax, { namespaces, locate: (offset) => locate(toAuthor(offset)) }),
    start: start > 1 ? start : undefined,
    unknownNames: unknownNames.length > 0 ? unknownNames : undefined,
    mentioned: mentioned.length > 0 ? mentioned : undefined,
    reads: reads.length > 0 ? reads : undefined,
    spelled: spelled.length > 0 ? spelled : undefined,
    findings: options.findings,
    route: chooseRoute(syntax),
  });
}

interface SourceParser extends LanguageSource {
  readonly strip: () => StrippedProgram;
  readonly parse: (text: string) => StrippedProgram;
}

/** A source that does not parse may lack `async`, or be in another language. */
function stripOrName(text: string, { source, namespaces, strip: stripped, parse }: SourceParser): StrippedProgram {
  try {
    return stripped();
  } catch (thrown) {
    const awaits = explainAwait(text, thrown, parse);
    if (awaits) throw refuse("PROGRAM_SYNTAX", source, awaits);
    const fence = findOpenFence(text);
    if (fence !== undefined) throw refuseFence(fence, source);
    const language = nameLanguage(text);
    throw language === undefined ? thrown : refuseLanguage(language, { source, namespaces, offset: text.search(/\S/) });
  }
}

function refuseFence(fence: string, source: string): GloveboxError {
  const message = `The markdown fence ${fence} around the program is not closed`;
  return refuse("PROGRAM_SYNTAX", source, { message, offset: source.indexOf(fence), hint: `Remove the line ${fence}` });
}

type LanguageSource = KnownApi & { readonly source: string };

function refuseLanguage(
  language: string,
  { source, namespaces, offset }: LanguageSource & { readonly offset: number },
) {
  const message = explainLanguage(language, source, namespaces);
  return refuse("PROGRAM_SYNTAX", source, { message, offset: Math.max(0, offset), hint: LANGUAGE_HINT });
}

/** Source that does not parse may end with an object literal that was meant as the program's value. */
function strip(text: string, bounds: StripBounds, note: (message: string, offset: number) => void): StrippedProgram {
  try {
    return stripTypes(text, bounds);
  } catch (thrown) {
    const wrapped = wrapLastObject(text);
    if (!wrapped) throw thrown;
    try {
      const stripped = stripTypes(wrapped.javascript, bounds);
      note("The braces at the end were read as an object", wrapped.insertions[0]?.offset ?? 0);
      return { ...stripped, insertions: joinInsertions(wrapped.insertions, stripped.insertions) };
    } catch {
      throw thrown;
    }
  }
}

/** Any other exception is a bug of ours. Its message may describe this machine, so it is not shown. */
function toRefusal(thrown: unknown): PublicError {
  if (thrown instanceof GloveboxError) return describeError(thrown);
  const { text, retry } = ERRORS.INTERNAL_BUG;
  return { code: "INTERNAL_BUG", message: text, retry };
}

/** Globals of the sandbox besides ECMAScript, and globals of other platforms that other rules report. */
const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ..."arguments console glovebox input secrets skills ToolError".split(" "),
  ..."chunk count first groupBy last omit pick sortBy sum table unique".split(" "),
  ..."document exports global module process require self window".split(" "),
]);

/** In source order. Globals of this process count as known: every engine has at least those. */
function findUnknownNames({ mentions }: ProgramNames, namespaces: ReadonlySet<string>): readonly string[] {
  const isKnown = (name: string): boolean =>
    namespaces.has(name) || KNOWN_NAMES.has(name) || Object.hasOwn(globalThis, name);
  return [...mentions.keys()].filter((name) => !isKnown(name));
}

/** The global that searches and describes the tools of all upstreams. */
const BUILTINS = "glovebox";

/** A local variable with the name of a server is not a mention of it; what the global object gives is a call. */
function findMentioned({ mentions }: ProgramNames, namespaces: KnownApi["namespaces"]): readonly string[] {
  return [BUILTINS, ...namespaces.map(({ name }) => name)].filter((name) => mentions.has(name));
}

const MOST_KEPT = 32;
/** Longer sources are rarely sent twice. */
const MOST_CHARS = 8_192;

/**
 * Like `analyze`, with fixed options except `varying`. Keeps the results of the last sources, but no refusals: agents
 * often run the same program again, and programs are immutable, so executions can share one.
 */
export function rememberAnalyses(
  options: Omit<AnalysisOptions, "limits" | "enabled">,
): (source: string, surface: KnownApi, varying: Pick<AnalysisOptions, "limits" | "enabled">) => AnalysisResult {
  const kept = new WeakMap<KnownApi, ReturnType<typeof createRecent<string, AnalysisResult>>>();
  return (source, surface, varying) => {
    const key = `${varying.enabled} ${varying.limits.sourceBytes} ${source}`;
    const recent = kept.get(surface) ?? createRecent<string, AnalysisResult>(MOST_KEPT);
    const known = recent.get(key);
    if (known) return known;
    const analyzed = analyze(source, surface, { ...options, ...varying });
    if (!analyzed.ok || source.length > MOST_CHARS) return analyzed;
    recent.set(key, analyzed);
    kept.set(surface, recent);
    return analyzed;
  };
}
