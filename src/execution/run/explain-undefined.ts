/** Says which expression of a program was undefined, if a part of its result is missing because of it, or became text. */

import type { Bridge } from "../../bridge/index.ts";
import { isJsonObject, parseJson, parseToolAddress } from "../../domain/index.ts";
import type { CatalogSnapshot, Finding, Json, Program } from "../../domain/index.ts";

type MissingRead = NonNullable<Program["reads"]>[number];

type CallHost = Pick<Bridge, "call">;

export interface SeenReplies extends CallHost {
  /** The last result of a tool, if the program reads a field of it. */
  readonly resultOf: (tool: string) => Json | undefined;
  /** Its last few results. */
  readonly resultsOf: (tool: string) => readonly Json[];
}

const KEPT_REPLIES = 8;
/** Larger replies are kept only while they are the last. */
const KEPT_CHARS = 100_000;

/** Keeps the last replies of the tools whose fields the program reads. Others pass without a copy. */
export function watchReplies(host: CallHost, { reads = [] }: Pick<Program, "reads">): SeenReplies {
  const last = new Map(reads.map(({ from = "" }): [string, readonly string[]] => [from, []]));
  last.delete("");
  if (last.size === 0) {
    const call: CallHost["call"] = (rawAddress, rawArgs, seq) => host.call(rawAddress, rawArgs, seq);
    return { call, resultOf: () => undefined, resultsOf: () => [] };
  }
  return {
    async call(rawAddress, rawArgs, seq) {
      const reply = await host.call(rawAddress, rawArgs, seq);
      const before = typeof rawAddress === "string" ? last.get(rawAddress) : undefined;
      if (reply.ok && before && typeof rawAddress === "string") {
        const small = before.filter((one) => one.length <= KEPT_CHARS).slice(1 - KEPT_REPLIES);
        last.set(rawAddress, [...small, reply.json]);
      }
      return reply;
    },
    resultOf: (tool) => parseJson(last.get(tool)?.at(-1) ?? ""),
    resultsOf: (tool) => (last.get(tool) ?? []).map((one) => parseJson(one)).filter((one) => one !== undefined),
  };
}

export interface ResultContext extends Pick<SeenReplies, "resultOf" | "resultsOf"> {
  readonly input: Json | undefined;
  readonly snapshot: Pick<CatalogSnapshot, "tools">;
}

const RULE = "undefined-result";
const ITEM = "*";
const MAX_FIELDS = 12;
const MAX_ITEMS = 1_000;
const MAX_FINDINGS = 5;
const MAX_FIELD_CHARS = 40;

export function explainUndefined(
  { reads = [], findings }: Pick<Program, "reads" | "findings">,
  value: Json | undefined,
  context: ResultContext,
): readonly Finding[] {
  return reads
    .filter(
      (read) =>
        read.isLoose !== true && isMissing(read, value) && !isExpected(read, context) && !isSaid(read, findings),
    )
    .slice(0, MAX_FINDINGS)
    .map((read) => {
      const { line, column } = read;
      return { rule: RULE, severity: "warn", message: toMessage(read, context), line, column };
    });
}

/** How an object and a promise look in a string that they were joined to. */
const JOINED = [
  ["[object Promise]", "a promise was joined to a string or a number; await it first"],
  ["[object Object]", "an object was joined to a string; write JSON.stringify(…) or one of its fields"],
] as const;
const MAX_PARTS = 10_000;

/** At the last `return`: the source does not tell which expression it was. */
export function explainJoined({ source }: Pick<Program, "source">, value: Json | undefined): readonly Finding[] {
  const [text, cause] =
    JOINED.find((one) => someString(value, (part) => part.includes(one[0]), { left: MAX_PARTS })) ?? [];
  if (text === undefined) return [];
  const message = `The result contains ${text}: ${cause}`;
  const before = source.slice(0, Math.max(0, source.lastIndexOf("return"))).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return [{ rule: "joined-object", severity: "warn", message, line: before.length, column }];
}

function someString(value: Json | undefined, matches: (text: string) => boolean, parts: { left: number }): boolean {
  parts.left -= 1;
  if (typeof value === "string") return matches(value);
  if (typeof value !== "object" || value === null) return false;
  for (const part of isJsonObject(value) ? Object.values(value) : value) {
    if (parts.left <= 0) return false;
    if (someString(part, matches, parts)) return true;
  }
  return false;
}

/** Whether the result has nothing at the place of the read. In an array, no item may have it. */
function isMissing({ path, isOnly = false, beside }: MissingRead, value: Json | undefined): boolean {
  if (path.length === 0) return isOnly && value === undefined;
  let holders: readonly (Json | undefined)[] = [value];
  for (const key of path.slice(0, -1)) {
    holders = holders.flatMap((holder) => {
      if (key === ITEM) return Array.isArray(holder) ? holder.slice(0, MAX_ITEMS) : [];
      return isJsonObject(holder) && Object.hasOwn(holder, key) ? [holder[key]] : [];
    });
  }
  const last = path.at(-1) ?? "";
  if (last === ITEM || holders.length === 0) return false;
  const isOurs = (holder: Json | undefined): boolean =>
    isJsonObject(holder) && (isOnly || beside.some((key) => Object.hasOwn(holder, key)));
  return holders.every((holder) => isOurs(holder) && isJsonObject(holder) && !Object.hasOwn(holder, last));
}

/** A declared field may be optional; the type check has found those that are not declared. Own values may lack anything. */
function isExpected({ path, from }: MissingRead, { snapshot }: ResultContext): boolean {
  if (path.length === 0) return false;
  if (from === undefined) return true;
  return isDeclared(from, snapshot);
}

export function isDeclared(from: string, snapshot: ResultContext["snapshot"]): boolean {
  const address = parseToolAddress(from);
  return address !== undefined && Boolean(snapshot.tools.get(address)?.output);
}

/** A learned type may have said it before. */
export function isSaid({ steps, line }: MissingRead, findings: readonly Finding[]): boolean {
  const name = steps?.at(-1);
  return findings.some((one) => one.rule === "types" && one.line === line && one.message.includes(` has no ${name}`));
}

function toMessage({ path, expression, from, steps = [] }: MissingRead, { input, resultOf }: ResultContext): string {
  const what =
    path.length === 0 ? "The result" : `${path.join(".").replaceAll(".*", "[]").replace(/^\*/u, "[]")} in the result`;
  const base = `${what} is undefined, because ${expression} is`;
  const met = from === undefined ? undefined : follow(from === "input" ? input : resultOf(from), steps);
  return from === undefined || !met ? base : `${base}; ${tellHolder(from, met.at, met.here)}`;
}

/** `shop.find.items[] has id, name`, or `everything.getSum returned a string`. */
export function tellHolder(from: string, at: readonly string[], holder: Json): string {
  const subject = [from, ...at].join(".").replaceAll(".*", "[]");
  if (isJsonObject(holder)) {
    const fields = Object.keys(holder);
    const shown = fields.slice(0, MAX_FIELDS).map((field) => field.slice(0, MAX_FIELD_CHARS).toWellFormed());
    const more = fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : "";
    return fields.length === 0 ? `${subject} is an empty object` : `${subject} has ${shown.join(", ")}${more}`;
  }
  const isWhole = at.length === 0 && from !== "input";
  return `${subject} ${isWhole ? "returned" : "is"} ${Array.isArray(holder) ? "an array" : holder === null ? "null" : `a ${typeof holder}`}`;
}

/** Goes along the steps as far as the value does, and returns the fields there. */
function follow(
  value: Json | undefined,
  steps: readonly string[],
): { readonly here: Json; readonly at: readonly string[] } | undefined {
  let here = value;
  for (const [index, step] of steps.entries()) {
    const next: Json | undefined =
      step === ITEM ? (Array.isArray(here) ? here[0] : undefined) : isJsonObject(here) ? here[step] : undefined;
    if (next !== undefined) {
      here = next;
      continue;
    }
    if (here === undefined) return undefined;
    return { here, at: steps.slice(0, index) };
  }
  return undefined;
}
