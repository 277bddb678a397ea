/**
 * From source text to a program that can run, or to the reason why not. Pure: it never runs code, reads no clock and
 * keeps nothing. It helps and warns early; it is not the wall, and the sandbox holds without it.
 */

import { ERRORS, GloveboxError, describeError } from "../domain/index.ts";
import type { Finding, Limits, Namespace, Program, PublicError } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import { blankHashbang } from "./edit-text.ts";
import { checkRules } from "./rules/check-rules.ts";
import type { RuleSettings } from "./rules/check-rules.ts";
import { checkSize } from "./prepare/check-size.ts";
import { readSyntax } from "./read-syntax.ts";
import { dropParameters } from "./prepare/drop-parameters.ts";
import type { Timebox } from "./typescript/erase-types.ts";
import { findCalls } from "./plan/find-calls.ts";
import type { ProgramNames } from "./resolve-scopes.ts";
import { joinInsertions, withoutInsertions } from "./edit-text.ts";
import type { EditedText } from "./edit-text.ts";
import { wrapLastObject } from "./prepare/last-object.ts";
import { createLocator } from "./locate.ts";
import { describeRewrites, normalize, toCheckable } from "./prepare/normalize.ts";
import { refuse } from "./refuse.ts";
import { stripTypes } from "./typescript/strip-types.ts";
import type { StrippedProgram } from "./parse-javascript.ts";
import type { StripBounds } from "./typescript/strip-types.ts";
import { unwrapFence } from "./prepare/unwrap-fence.ts";

/** A refusal carries every finding made until then, so that an author can fix all of them at once. */
export type AnalysisResult =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly error: PublicError; readonly findings: readonly Finding[] };

/** What the operator set; `enabled: false` skips the rules, not the parsing. */
export interface AnalysisOptions extends RuleSettings {
  readonly limits: Pick<Limits, "sourceBytes">;
  /** Stops the type stripper when it takes too long; without it only the estimate made beforehand protects. */
  readonly timebox?: Timebox;
}

/** Never throws, whatever the source is. */
export function analyze(
  source: string,
  surface: { readonly namespaces: readonly Namespace[] },
  options: AnalysisOptions,
): AnalysisResult {
  const findings: Finding[] = [];
  try {
    return { ok: true, program: buildProgram(source, surface.namespaces, { ...options, findings }) };
  } catch (thrown) {
    return { ok: false, error: toRefusal(thrown), findings };
  }
}

function buildProgram(
  source: string,
  namespaces: readonly Namespace[],
  options: AnalysisOptions & { readonly findings: Finding[] },
): Program {
  const nesting = checkSize(source, options.limits);
  const locate = createLocator(source);
  // Half a surrogate pair survives no transport and no digest; as U+FFFD it is the same everywhere.
  const unwrapped = unwrapFence(source.toWellFormed());
  const note = (message: string, offset: number, severity: "info" | "warn" = "info"): void =>
    void options.findings.push({ rule: "normalized", severity, message, ...locate(offset) });
  if (unwrapped.opened !== undefined) {
    const dropped = unwrapped.hadProse ? ", and the text around it was dropped" : "";
    note(`The program came in a markdown fence, which was taken off${dropped}`, unwrapped.opened);
  }
  const whole = blankHashbang(unwrapped.text);
  const given = strip(whole, { visits: nesting.visits, tokens: nesting.tokens, timebox: options.timebox }, note);
  const called = dropParameters(given, whole, new Set(namespaces.map(({ name }) => name)));
  const { stripped, tree, text } = called;
  if (called.note) note(called.note.message, called.note.offset, called.note.severity);
  const toAuthor = (offset: number): number => withoutInsertions(stripped.insertions, offset);
  const { sourceBytes } = options.limits;
  const syntax = readSyntax({ source, tree, namespaces, sourceBytes, toAuthor });
  const checked = checkRules(syntax, options, locate);
  options.findings.push(...checked.findings);
  if (checked.block) throw refuse("PROGRAM_FORBIDDEN", source, checked.block);
  for (const { message, offset } of describeRewrites(stripped.text, tree)) note(message, toAuthor(offset));
  const { javascript, insertions: added } = normalize(stripped.text, tree);
  const unknownNames = findUnknownNames(syntax.globals, syntax.namespaces);
  return {
    digest: digestOf(javascript),
    source,
    checkable: toCheckable(text, tree, toAuthor),
    javascript,
    insertions: joinInsertions(stripped.insertions, added),
    calls: findCalls(syntax, { namespaces, locate: (offset) => locate(toAuthor(offset)) }),
    ...(unknownNames.length > 0 && { unknownNames }),
    findings: options.findings,
  };
}

/** A text that does not parse may end with an object that was meant as its value. */
function strip(text: string, bounds: StripBounds, note: (message: string, offset: number) => void): StrippedProgram {
  try {
    return stripTypes(text, bounds);
  } catch (thrown) {
    const wrapped = wrapLastObject(text);
    const stripped = wrapped && stripAgain(wrapped, bounds);
    if (!stripped) throw thrown;
    note("The braces at the end were taken for an object", wrapped.insertions[0]?.offset ?? 0);
    return stripped;
  }
}

function stripAgain({ javascript, insertions }: EditedText, bounds: StripBounds): StrippedProgram | undefined {
  try {
    const stripped = stripTypes(javascript, bounds);
    return { ...stripped, insertions: joinInsertions(insertions, stripped.insertions) };
  } catch {
    return undefined;
  }
}

/** Anything unforeseen is our own bug: its text may be about this machine and stays here. */
function toRefusal(thrown: unknown): PublicError {
  if (thrown instanceof GloveboxError) return describeError(thrown);
  const { text, retry } = ERRORS.INTERNAL_BUG;
  return { code: "INTERNAL_BUG", message: text, retry };
}

/** What the sandbox has besides ECMAScript, and what programs look for from habit and other rules speak of. */
const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ..."arguments console glovebox input secrets skills ToolError".split(" "),
  ..."chunk count first groupBy last omit pick sortBy sum table unique".split(" "),
  ..."document exports global module process require self window".split(" "),
]);

/** In the order of the source. A name that this process has too is no stranger: every engine is at least that rich. */
function findUnknownNames({ mentions }: ProgramNames, namespaces: ReadonlySet<string>): readonly string[] {
  const isKnown = (name: string): boolean =>
    namespaces.has(name) || KNOWN_NAMES.has(name) || Object.hasOwn(globalThis, name);
  return [...mentions.keys()].filter((name) => !isKnown(name));
}
