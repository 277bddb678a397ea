/**
 * Explains `null`, `NaN` and the text "undefined" in a result: a field that the program computes with is in none of the
 * values that it was read from, or a function has no `return`.
 */

import { isJsonObject } from "../../domain/index.ts";
import type { Finding, Json, Program } from "../../domain/index.ts";
import { isDeclared, isSaid, namePart, tellHolder } from "./explain-undefined.ts";
import { stepInto } from "./follow-steps.ts";
import type { MissingRead, ResultContext } from "./explain-undefined.ts";

type LooseRead = NonNullable<Program["reads"]>[number];

const RULE = "undefined-result";
const MAX_PARTS = 10_000;
const MAX_FINDINGS = 3;
const LOST_TEXT = /\b(?:undefined|NaN)\b/;

/** `undefined` becomes `null` in an array, and so does a number that is none. */
export function explainLost(
  { reads = [], findings }: Pick<Program, "reads" | "findings">,
  value: Json | undefined,
  context: ResultContext,
): readonly Finding[] {
  const loose = reads.filter((read) => read.isLoose && !isSaid(read, findings));
  const sign = loose.length === 0 ? undefined : findSign(value, { left: MAX_PARTS });
  if (sign === undefined) return [];
  return loose.flatMap((read) => explain(read, sign, context)).slice(0, MAX_FINDINGS);
}

function explain(read: LooseRead, sign: string, context: ResultContext): readonly Finding[] {
  const { expression, from, steps = [], line, column } = read;
  const told = (message: string): readonly Finding[] => [{ rule: RULE, severity: "warn", message, line, column }];
  if (from === undefined) return told(`${sign}, and this function returns nothing; write: return ${expression}`);
  if (isDeclared({ from, steps }, context.snapshot)) return [];
  const values = from === "input" ? [context.input ?? null] : context.resultsOf(from);
  const holders = values.map((one) => findHolder(one, steps));
  const [holder] = holders;
  if (!holder || holders.includes(undefined)) return [];
  return told(`${sign}, and ${expression} is undefined; ${tellHolder(from, steps.slice(0, -1), holder.value)}`);
}

/** Where `NaN` or an infinite number became `null`. In an array, only if it did in every item. */
export function explainNumbers({ reads = [] }: Pick<Program, "reads">, value: Json | undefined): readonly Finding[] {
  return reads
    .filter((read) => read.isNumber === true && isNullAt(value, read.path))
    .slice(0, MAX_FINDINGS)
    .map(({ path, expression, line, column }) => {
      const message = `${namePart(path)} is null, because ${expression} is NaN or infinite; check the values that it is computed from`;
      return { rule: RULE, severity: "warn", message, line, column };
    });
}

function isNullAt(value: Json | undefined, path: MissingRead["path"]): boolean {
  let parts: readonly Json[] = value === undefined ? [] : [value];
  for (const key of path) parts = parts.flatMap((part) => stepInto(part, key));
  return parts.length > 0 && parts.every((part) => part === null);
}

/** What the last step is missing from; nothing if any value there has it, or if no value is there. */
function findHolder(value: Json, steps: readonly string[]): { readonly value: Json } | undefined {
  let holders: readonly Json[] = [value];
  for (const step of steps.slice(0, -1)) holders = holders.flatMap((holder) => stepInto(holder, step));
  const last = steps.at(-1) ?? "";
  const [first] = holders;
  const hasIt = (holder: Json): boolean => !isJsonObject(holder) || Object.hasOwn(holder, last);
  return first === undefined || holders.some(hasIt) ? undefined : { value: first };
}

/** The beginning of the message, if the result has something that a missing value leaves. */
function findSign(value: Json | undefined, parts: { left: number }): string | undefined {
  parts.left -= 1;
  if (value === undefined) return "The result is undefined";
  if (value === null) return "The result contains null";
  if (typeof value === "string") {
    const [text] = LOST_TEXT.exec(value.slice(0, MAX_PARTS)) ?? [];
    return text && `The result contains "${text}"`;
  }
  if (typeof value !== "object") return undefined;
  if (Object.hasOwn(value, "undefined")) return `The result has a key "undefined"`;
  for (const part of isJsonObject(value) ? Object.values(value) : value) {
    if (parts.left <= 0) return undefined;
    const sign = findSign(part, parts);
    if (sign !== undefined) return sign;
  }
  return undefined;
}
