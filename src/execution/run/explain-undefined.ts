/** Says which expression of a program was undefined, if a part of its result is missing because of it, or became text. */

import type { Bridge } from "../../bridge/index.ts";
import { isJsonObject, parseJson, parseToolAddress } from "../../domain/index.ts";
import type { CatalogSnapshot, Finding, Json, Program } from "../../domain/index.ts";
import { findJoined } from "./explain-joined.ts";
import type { JoinedCall } from "./explain-joined.ts";
import { isParsed, showPlace, stepInto } from "./follow-steps.ts";

export type MissingRead = NonNullable<Program["reads"]>[number];

type CallHost = Pick<Bridge, "call">;

export interface SeenReplies extends CallHost {
  /** The last result of a tool, if the program reads a field of it. */
  readonly resultOf: (tool: string) => Json | undefined;
  /** Its last few results. */
  readonly resultsOf: (tool: string) => readonly Json[];
  /** The first call whose arguments have an object as text, which no result before it had. */
  readonly joined: () => JoinedCall | undefined;
  /** Whether a result had such a text, so that it is data. */
  readonly wasRead: () => boolean;
}

const KEPT_REPLIES = 8;
/** Larger replies are kept only while they are the last. */
const KEPT_CHARS = 100_000;

/** Keeps the last replies of the tools whose fields the program reads. Others pass without a copy. */
export function watchReplies(host: CallHost, { reads = [] }: Pick<Program, "reads">): SeenReplies {
  const last = new Map(reads.map(({ from = "" }): [string, readonly string[]] => [from, []]));
  last.delete("");
  let joined: JoinedCall | undefined;
  let wasRead = false;
  const notice = (tool: unknown, args: unknown): void => {
    const text = typeof args === "string" && !joined && !wasRead ? findJoined(args) : undefined;
    if (typeof tool === "string" && text !== undefined) joined = { tool, text };
  };
  return {
    joined: () => joined,
    wasRead: () => wasRead && !joined,
    async call(rawAddress, rawArgs, seq) {
      notice(rawAddress, rawArgs);
      const reply = await host.call(rawAddress, rawArgs, seq);
      const before = typeof rawAddress === "string" ? last.get(rawAddress) : undefined;
      if (reply.ok && !wasRead) wasRead = findJoined(reply.json) !== undefined;
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
        read.isLoose !== true &&
        read.isNumber !== true &&
        isMissing(read, value) &&
        !isExpected(read, context) &&
        !isSaid(read, findings),
    )
    .slice(0, MAX_FINDINGS)
    .map((read) => {
      const { line, column } = read;
      return { rule: RULE, severity: "warn", message: toMessage(read, context), line, column };
    });
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
function isExpected({ path, from, steps }: MissingRead, { snapshot }: ResultContext): boolean {
  if (path.length === 0) return false;
  if (from === undefined) return true;
  return isDeclared({ from, ...(steps && { steps }) }, snapshot);
}

export function isDeclared(
  { from = "", steps }: Pick<MissingRead, "from" | "steps">,
  snapshot: ResultContext["snapshot"],
): boolean {
  if (isParsed(steps)) return false;
  const address = parseToolAddress(from);
  return address !== undefined && Boolean(snapshot.tools.get(address)?.output);
}

/** A learned type may have said it before. */
export function isSaid({ steps, line }: MissingRead, findings: readonly Finding[]): boolean {
  const name = steps?.at(-1);
  return findings.some((one) => one.rule === "types" && one.line === line && one.message.includes(` has no ${name}`));
}

/** `The result`, or `rows[].name in the result`. */
export function namePart(path: MissingRead["path"]): string {
  const place = path.join(".").replaceAll(".*", "[]").replace(/^\*/u, "[]");
  return path.length === 0 ? "The result" : `${place} in the result`;
}

function toMessage({ path, expression, from, steps = [] }: MissingRead, { input, resultOf }: ResultContext): string {
  const base = `${namePart(path)} is undefined, because ${expression} is`;
  const met = from === undefined ? undefined : follow(from === "input" ? input : resultOf(from), steps);
  return from === undefined || !met ? base : `${base}; ${tellHolder(from, met.at, met.here)}`;
}

/** `shop.find.items[] has id, name`, or `everything.getSum returned a string`. */
export function tellHolder(from: string, at: readonly string[], holder: Json): string {
  const subject = showPlace(from, at);
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
    const [next] = here === undefined ? [] : stepInto(here, step);
    if (next !== undefined) {
      here = next;
      continue;
    }
    if (here === undefined) return undefined;
    return { here, at: steps.slice(0, index) };
  }
  return undefined;
}
