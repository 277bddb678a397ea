/**
 * The forms of TypeScript that are more than types: enums, parameter properties and namespaces. What they mean is inserted
 * as JavaScript, what they were becomes spaces; nothing else moves.
 */

import { blank } from "./blank.ts";
import { transformEnum } from "./erase-types.ts";
import type { Erased } from "./erase-types.ts";
import { openNamespace } from "./open-namespace.ts";
import type { NamespaceBody } from "./open-namespace.ts";
import { scanTokens } from "./scan-tokens.ts";
import type { Token } from "./scan-tokens.ts";

/** Text to put in before what stands at `at`, an offset in the author's text. */
export interface Addition {
  readonly at: number;
  readonly text: string;
}

/** An enum as it was written, without `const`; one of the same name adds to it only in the same scope. */
export interface Enumeration {
  readonly text: string;
  /** Where the innermost bracket around it opens. */
  readonly scope: number;
}

/** The text without the declaration, of the same length, and the JavaScript that takes its place. */
export interface Transformed {
  readonly text: string;
  readonly additions: readonly Addition[];
  readonly enumeration?: Enumeration;
  /** A namespace whose meaning is still to be put in, when all types are gone. */
  readonly body?: NamespaceBody;
}

/** Each costs a run of the stripper. */
export const MAX_TRANSFORMS = 20;
const MANY = new RegExp(
  /\b(?:enum|namespace|module)\s+[\w$.]+\s*\{|\bconstructor\s*\([^)]{0,500}?\b(?:public|private|protected|readonly|override)\s/u
    .source,
  "gu",
);
/** A single constructor may have this many properties among its parameters. */
const MAX_PROPERTIES = 100;
/** A longer enum is data, and translating it would take long. */
const MAX_ENUM_CHARS = 10_000;
const MODIFIERS: ReadonlySet<string> = new Set(["public", "private", "protected", "readonly", "override"]);
const ENUM = /^(?:const\s+)?(?=enum\s)/u;

/** Whether a text has more such declarations than are translated; the stripper takes long to complain about them all. */
export function hasManyTransforms(text: string): boolean {
  if (countUpTo(text, MANY, MAX_TRANSFORMS + 1) > MAX_TRANSFORMS) return true;
  return (
    countUpTo(text, /\b(?:public|private|protected|readonly)\s+[\w$]+\s*[,:=)]/gu, 10 * MAX_PROPERTIES) >=
    10 * MAX_PROPERTIES
  );
}

function countUpTo(text: string, pattern: RegExp, most: number): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) {
    count += 1;
    if (count >= most) break;
  }
  return count;
}

/** Translates the declaration that the stripper refused, or gives `undefined` when it is none of those forms. */
export function transformTypes(
  text: string,
  refusal: Extract<Erased, { kind: "refused" }>,
  enumerations: readonly Enumeration[],
): Transformed | undefined {
  if (refusal.message.startsWith("TypeScript enum")) return translateEnum(text, refusal, enumerations);
  if (refusal.message.startsWith("TypeScript namespace")) {
    const opened = openNamespace(text, refusal);
    return opened && { ...opened, additions: [] };
  }
  return refusal.message.includes("parameter property") ? translateConstructor(text, refusal.offset) : undefined;
}

function translateEnum(
  text: string,
  { offset, end }: { readonly offset: number; readonly end: number },
  known: readonly Enumeration[],
): Transformed | undefined {
  const lead = ENUM.exec(text.slice(offset, end));
  if (!lead || end - offset > MAX_ENUM_CHARS) return undefined;
  const enumeration = text.slice(offset + lead[0].length, end);
  const name = nameOf(enumeration);
  const tokens = [...scanTokens(text)];
  const scope = findOpening(
    tokens,
    tokens.findIndex(({ start }) => start >= offset),
  );
  const earlier = known.filter((one) => one.scope === scope && nameOf(one.text) === name);
  const script = transformEnum(
    enumeration,
    earlier.map((one) => one.text),
  );
  if (script === undefined) return undefined;
  // The second part of an enum is a bare call; with the declaration it also stands in a scope of its own.
  const declared = script.startsWith(";var ") ? script : `;var ${name}=${name}||{}${script}`;
  return {
    text: blank(text, offset, end),
    additions: [{ at: offset, text: declared }],
    enumeration: { text: enumeration, scope },
  };
}

function nameOf(enumeration: string): string {
  return /^enum\s+([^\s{]+)/u.exec(enumeration)?.[1] ?? "";
}

function translateConstructor(text: string, offset: number): Transformed | undefined {
  const tokens = [...scanTokens(text)];
  const open = tokens.findLastIndex(
    ({ text: sign, start }, at) => sign === "(" && start < offset && tokens[at - 1]?.text === "constructor",
  );
  const close = open < 0 ? -1 : findClosing(tokens, open);
  const body = tokens[close + 1];
  if (close < 0 || body?.text !== "{" || (tokens[close]?.start ?? 0) < offset) return undefined;
  const properties = readProperties(tokens.slice(open, close));
  if (properties.length === 0 || properties.length > MAX_PROPERTIES) return undefined;
  const blanked = properties.reduce((rest, { from, to }) => blank(rest, from, to), text);
  const after = findSuper(tokens.slice(close + 1, findClosing(tokens, close + 1)));
  const sets = properties.map(({ name }) => `this.${name}=${name}`);
  const addition =
    after === undefined ? { at: body.start + 1, text: `${sets.join(";")};` } : { at: after, text: `,${sets.join()}` };
  const fields = { at: findOpening(tokens, open), text: `${properties.map(({ name }) => name).join(";")};` };
  return { text: blanked, additions: [fields, addition] };
}

/** The offset behind the innermost bracket that is open there; of a class body, where its first fields belong. */
function findOpening(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from - 1; at >= 0; at -= 1) {
    const token = tokens[at];
    if ([")", "]", "}"].includes(token?.text ?? "")) depth += 1;
    if (token?.kind !== "mark" || !["(", "[", "{", "${"].includes(token.text)) continue;
    if (depth === 0) return token.start + 1;
    depth -= 1;
  }
  return 0;
}

interface Property {
  readonly name: string;
  /** The place of its modifiers. */
  readonly from: number;
  readonly to: number;
}

/** `tokens` starts with the opening parenthesis. */
function readProperties(tokens: readonly Token[]): readonly Property[] {
  const found: Property[] = [];
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    if (token.kind === "mark" && ["(", "[", "{", "${"].includes(token.text)) depth += 1;
    if ([")", "]", "}"].includes(token.text)) depth -= 1;
    const starts =
      depth === 1 && (token.text === "," || token.text === "(") && MODIFIERS.has(tokens[at + 1]?.text ?? "");
    if (!starts) continue;
    const first = at + 1;
    let last = first;
    while (MODIFIERS.has(tokens[last]?.text ?? "") && tokens[last + 1]?.kind === "word") last += 1;
    const [from, name] = [tokens[first], tokens[last]];
    if (from && name && last > first) found.push({ name: name.text, from: from.start, to: name.start });
  }
  return found;
}

/** The index of the bracket that closes the one at `open`, or -1. */
function findClosing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind === "mark" && ["(", "[", "{", "${"].includes(token.text)) depth += 1;
    if ([")", "]", "}"].includes(token?.text ?? "")) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** Where the call of `super` ends, if there is one. */
function findSuper(tokens: readonly Token[]): number | undefined {
  const at = tokens.findIndex(({ text }, index) => text === "super" && tokens[index + 1]?.text === "(");
  const end = at < 0 ? undefined : tokens[findClosing(tokens, at + 1)];
  return end && end.start + 1;
}
