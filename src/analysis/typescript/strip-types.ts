/**
 * Turns TypeScript or JavaScript into a syntax tree of plain JavaScript. Plain JavaScript is parsed directly, without
 * the type stripper. Types become spaces, so every position is still the author's.
 */

import type { AnyNode, Program as Root } from "acorn";
import type { GloveboxError } from "../../domain/index.ts";
import { eraseTypes } from "./erase-types.ts";
import type { StripFailure, Timebox } from "./erase-types.ts";
import { joinInsertions, withoutInsertions } from "../edit-text.ts";
import type { EditedText } from "../edit-text.ts";
import { linkNamespaces, mayAlias, replaceAliases } from "./link-namespaces.ts";
import { parseJavascript } from "../parse-javascript.ts";
import type { ParseResult, StrippedProgram } from "../parse-javascript.ts";
import { readNodes } from "../read-tree.ts";
import { refuse } from "../locate.ts";
import { transformAccessors } from "./transform-accessors.ts";
import { MAX_TRANSFORMS, hasManyTransforms, isTransformable, transformTypes } from "./transform-types.ts";

/**
 * The most work for the stripper, as estimated. Ordinary dense sources reach a tenth of this, and the worst hostile
 * ones below it that random search found take a tenth of a second.
 */
const MAX_VISITS = 20_000_000;

/** Programs with namespaces are parsed twice more; longer ones would take too long. */
const MAX_LINKED_TOKENS = 12_000;

const FIX_SYNTAX = "Send one program in TypeScript or JavaScript, written as the body of an async function";
/** Errors that no type can explain. The stripper would list all of them, which is slow. */
const NEVER_TYPES = /^Unsyntactic (?:break|continue)/u;

const FIX_TYPES = "Write simpler types, or send the program as JavaScript";
const FIX_NESTING = "Split the expression into several statements";

/** Hints for syntax that is not supported; the first pattern that matches amaro's message wins. */
const ERASABLE_FORMS: readonly (readonly [RegExp, string])[] = [
  [/^TypeScript enum/u, 'Write a constant object instead of an enum: const Color = { Red: "red" } as const'],
  [/^TypeScript namespace|^`module`/u, "Write the namespace without `export` before it, or as a constant object"],
  [/parameter property/u, "Declare the field in the class and assign it in the constructor"],
  [/angle-bracket/u, "Write `value as Type` instead of `<Type>value`"],
  [
    /import equals|export assignment|'import', and 'export'/u,
    "Leave imports and exports out: tools are globals here, and `return` gives the result",
  ],
];

/** The bounds of the stripper: an estimate before it runs, and a time limit while it runs. */
export interface StripBounds {
  readonly visits: number;
  readonly tokens: number;
  readonly timebox: Timebox | undefined;
}

/** Throws PROGRAM_SYNTAX with the position. */
export function stripTypes(text: string, bounds: StripBounds): StrippedProgram {
  const plain = parseJavascript(text);
  if (plain.ok && !mayHoldTypeArguments(text, plain.root)) return { text, root: plain.root, insertions: [] };
  if (!plain.ok && (plain.exhausted || NEVER_TYPES.test(plain.message))) throw refuseParse(text, plain);
  // Aliases and accessor fields, which amaro does not support, become TypeScript that it does.
  const prepared = transformAccessors(replaceAliases(text));
  const erased = eraseAll(prepared.javascript, bounds);
  const linked = erased.kind === "erased" ? link(erased, prepared, text) : undefined;
  const parsed = linked && parseJavascript(linked.javascript);
  if (parsed?.ok && linked) return { text: linked.javascript, root: parsed.root, insertions: linked.insertions };
  if (plain.ok) return { text, root: plain.root, insertions: [] };
  if (erased.kind === "broken" && bounds.visits > MAX_VISITS) {
    const message = "Generic calls or conditional expressions are nested too deeply to distinguish types from values";
    throw refuse("PROGRAM_SYNTAX", text, { message, offset: plain.offset, hint: FIX_NESTING });
  }
  if (erased.kind === "late") {
    const message = "It takes too long to separate the types of this program from its code";
    throw refuse("PROGRAM_SYNTAX", text, { message, offset: plain.offset, hint: FIX_TYPES });
  }
  if (erased.kind === "refused") {
    throw refuseErasure(text, erased.message, withoutInsertions(prepared.insertions, erased.offset));
  }
  if (!parsed || parsed.ok || !linked) throw refuseParse(text, plain);
  throw refuseParse(text, { ...parsed, offset: withoutInsertions(linked.insertions, parsed.offset) });
}

/** Replaces types by spaces; text with more than types is translated. */
function eraseAll(text: string, bounds: StripBounds): ({ readonly kind: "erased" } & EditedText) | StripFailure {
  const timebox: Timebox = bounds.timebox ?? ((work) => ({ value: work() }));
  if (bounds.visits > MAX_VISITS) return { kind: "broken" };
  if (hasManyTransforms(text)) {
    const message = `There are more than ${MAX_TRANSFORMS} enums, namespaces and constructors with parameter properties`;
    const hint = "Write constant objects instead of enums, and assign fields in constructors";
    throw refuse("PROGRAM_SYNTAX", text, { message, offset: 0, hint });
  }
  const erased = eraseTypes(text, timebox);
  if (erased.kind === "erased") return { kind: "erased", javascript: erased.text, insertions: [] };
  if (erased.kind !== "refused" || !isTransformable(text, erased)) return erased;
  if (erased.message.startsWith("TypeScript namespace") && bounds.tokens > MAX_LINKED_TOKENS) {
    const message = `A program with namespaces may have at most ${MAX_LINKED_TOKENS} names, numbers, strings and signs`;
    const hint = "Write constant objects instead of namespaces";
    throw refuse("PROGRAM_SYNTAX", text, { message, offset: erased.offset, hint });
  }
  return transformTypes(text, timebox);
}

function link({ javascript, insertions }: EditedText, prepared: EditedText, source: string): EditedText {
  const joined = { javascript, insertions: joinInsertions(prepared.insertions, insertions) };
  return /\b(?:namespace|module)\b/u.test(source) || mayAlias(source) ? linkNamespaces(joined, source) : joined;
}

/**
 * `f<A>(b)` is a call in TypeScript and two comparisons in JavaScript. Only the stripper can tell, so it runs whenever
 * a `>` with a parenthesis or template on its right follows a `<`; it leaves real comparisons alone.
 */
function mayHoldTypeArguments(text: string, root: Root): boolean {
  const less = text.indexOf("<");
  if (less < 0 || text.indexOf(">", less) < 0) return false;
  let firstLess = Infinity;
  const greater: number[] = [];
  for (const node of readNodes(root)) {
    if (node.type !== "BinaryExpression") continue;
    if (node.operator === "<") firstLess = Math.min(firstLess, node.left.end);
    if (/^>{1,3}$/u.test(node.operator) && startsArguments(node.right)) greater.push(node.right.start);
  }
  return greater.some((offset) => offset > firstLess);
}

/** The right side of `>` may continue (`> (b).c`), so its first part counts. */
function startsArguments(node: AnyNode): boolean {
  let first = node;
  for (;;) {
    if (first.type === "CallExpression") first = first.callee;
    else if (first.type === "MemberExpression") first = first.object;
    else if (first.type === "ChainExpression") first = first.expression;
    else if (first.type === "TaggedTemplateExpression") first = first.tag;
    else if (first.type === "BinaryExpression" || first.type === "LogicalExpression") first = first.left;
    else return first.type === "ParenthesizedExpression" || first.type === "TemplateLiteral";
  }
}

function refuseParse(text: string, failure: Extract<ParseResult, { ok: false }>): GloveboxError {
  const { message, offset, exhausted } = failure;
  return refuse("PROGRAM_SYNTAX", text, { message, offset, hint: exhausted ? FIX_NESTING : FIX_SYNTAX });
}

function refuseErasure(text: string, refusal: string, offset: number): GloveboxError {
  const form = ERASABLE_FORMS.find(([pattern]) => pattern.test(refusal));
  const message = refusal
    .replace(/ in (?:strip-only|type strip) mode/u, " here")
    .replace(/\. Expected an identifier, void,.*$/u, " where a type is expected");
  return refuse("PROGRAM_SYNTAX", text, { message, offset, hint: form?.[1] ?? FIX_SYNTAX });
}
