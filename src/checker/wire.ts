/**
 * What the gateway and the checker's process say to each other: one JSON object per line, one answer per question.
 * The process reads text that strangers wrote, so its answers are parsed like anybody's.
 */

import { isJsonObject } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";

/** A program to check; the declarations come along only when this process has not seen them yet. */
export interface Question {
  readonly id: number;
  /** Names the declarations. */
  readonly api: string;
  readonly declarations?: string;
  readonly text: string;
}

const KINDS = [
  "unknown-tool",
  "unknown-name",
  "argument",
  "missing-await",
  "unknown-field",
  "not-callable",
  "not-iterable",
] as const;

/** `unknown-name` is a global that nothing declares; the other kinds say what they mean. */
export type MistakeKind = (typeof KINDS)[number];

/** A replacement that would repair a mistake; offsets count in the checked text. */
export interface Fix {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** One place where a program does not fit the API. */
export interface Mistake {
  readonly kind: MistakeKind;
  readonly start: number;
  /** What the program wrote: the unknown name, field or expression. */
  readonly name: string;
  /** The compiler's own words, where they help. */
  readonly detail: string;
  /** The address of the tool that it is about, when one is. */
  readonly tool?: string;
  /** The declaration of the named type that a value has, when it has one. */
  readonly type?: string;
  /** True where the program may well know better; it is told and not held back. */
  readonly doubtful: boolean;
  readonly fix?: Fix;
}

/** `unknownApi` asks for the declarations: the process may have been started again, or have dropped them. */
export type Answer =
  | { readonly id: number; readonly kind: "checked"; readonly mistakes: readonly Mistake[] }
  | { readonly id: number; readonly kind: "unknownApi" }
  | { readonly id: number; readonly kind: "failed" };

/** For the process, which trusts the gateway that started it. */
export function parseQuestion(line: string): Question {
  return JSON.parse(line) as Question;
}

/** Splits a stream of text at line feeds only: a program may hold every other character that ends a line. */
export function createLineReader(use: (line: string) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) use(line);
  };
}

/** `undefined` for anything that is not an answer. */
export function parseAnswer(line: string): Answer | undefined {
  const raw = parseJson(line);
  if (!isJsonObject(raw) || typeof raw["id"] !== "number") return undefined;
  const { id, kind, mistakes } = raw;
  if (kind === "unknownApi" || kind === "failed") return { id, kind };
  if (kind !== "checked" || !Array.isArray(mistakes)) return undefined;
  return { id, kind, mistakes: mistakes.flatMap((mistake) => parseMistake(mistake) ?? []) };
}

function parseMistake(raw: Json): Mistake | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { start, name, detail, tool, type, doubtful } = raw;
  const kind = KINDS.find((known) => known === raw["kind"]);
  const fix = parseFix(raw["fix"]);
  if (!kind || typeof start !== "number" || typeof name !== "string" || typeof detail !== "string") return undefined;
  return {
    kind,
    start,
    name,
    detail,
    doubtful: doubtful === true,
    ...(typeof tool === "string" && { tool }),
    ...(typeof type === "string" && { type }),
    ...(fix && { fix }),
  };
}

function parseFix(raw: Json | undefined): Fix | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { start, end, text } = raw;
  if (typeof start !== "number" || typeof end !== "number" || typeof text !== "string") return undefined;
  return { start, end, text };
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
