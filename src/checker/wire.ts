/**
 * The protocol between the gateway and the checker's process: one JSON object per line, one reply per request.
 * The process reads source text from strangers, so its replies are parsed as untrusted data.
 */

import { defined, isJsonObject, parseJson } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";

/** A program to check. The declarations are sent only if this process has not seen them yet. */
export interface CheckerRequest {
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
  "never-equal",
] as const;

/** `unknown-name` is an undeclared global. */
export type MistakeKind = (typeof KINDS)[number];

/** A replacement that fixes a mistake; offsets are in the checked text. */
export interface Fix {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Mistake {
  readonly kind: MistakeKind;
  readonly start: number;
  /** What the program wrote: the unknown name, field or expression. */
  readonly name: string;
  /** The compiler's message, where it helps. */
  readonly detail: string;
  /** The address of the tool that the mistake is about, if there is one. */
  readonly tool?: string;
  /** The declaration of the value's named type, if it has one. */
  readonly type?: string;
  /** What to write instead, if no single replacement is right. */
  readonly advice?: string;
  /** True if the program may be right; then the mistake is only a warning. */
  readonly doubtful: boolean;
  readonly fix?: Fix;
  /** A second replacement that belongs to `fix`: of what a loop iterates over. */
  readonly loopFix?: Fix;
}

/** `unknownApi` requests the declarations: the process was restarted or has dropped them. */
export type CheckerReply =
  | { readonly id: number; readonly kind: "checked"; readonly mistakes: readonly Mistake[] }
  | { readonly id: number; readonly kind: "unknownApi" }
  | { readonly id: number; readonly kind: "failed" };

/** Throws a TypeError for anything that is not a request: the gateway and its checker are then different versions. */
export function parseCheckerRequest(line: string): CheckerRequest {
  const raw = parseJson(line);
  const { id, api, declarations, text } = isJsonObject(raw) ? raw : {};
  const isValid = typeof id === "number" && typeof api === "string" && typeof text === "string";
  if (!isValid || (declarations !== undefined && typeof declarations !== "string")) {
    throw new TypeError("The line is not a request to the checker");
  }
  return defined({ id, api, declarations, text });
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

/** Returns `undefined` for anything that is not a reply. */
export function parseCheckerReply(line: string): CheckerReply | undefined {
  const raw = parseJson(line);
  if (!isJsonObject(raw) || typeof raw["id"] !== "number") return undefined;
  const { id, kind, mistakes } = raw;
  if (kind === "unknownApi" || kind === "failed") return { id, kind };
  if (kind !== "checked" || !Array.isArray(mistakes)) return undefined;
  return { id, kind, mistakes: mistakes.flatMap((mistake) => parseMistake(mistake) ?? []) };
}

function parseMistake(raw: Json): Mistake | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { start, name, detail, tool, type, advice, doubtful } = raw;
  const kind = KINDS.find((known) => known === raw["kind"]);
  const fix = parseFix(raw["fix"]);
  const loopFix = parseFix(raw["loopFix"]);
  if (!kind || typeof start !== "number" || typeof name !== "string" || typeof detail !== "string") return undefined;
  return defined({
    kind,
    start,
    name,
    detail,
    doubtful: doubtful === true,
    tool: toText(tool),
    type: toText(type),
    advice: toText(advice),
    fix,
    loopFix,
  });
}

function toText(raw: Json | undefined): string | undefined {
  return typeof raw === "string" ? raw : undefined;
}

function parseFix(raw: Json | undefined): Fix | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { start, end, text } = raw;
  if (typeof start !== "number" || typeof end !== "number" || typeof text !== "string") return undefined;
  return { start, end, text };
}
