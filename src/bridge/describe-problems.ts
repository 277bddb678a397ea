/** Turns the errors of the validator into sentences: which field, what was expected, what may have been meant. */

import { findNearestName } from "../catalog/index.ts";
import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonSchema } from "../domain/index.ts";
import type { SlicedWork } from "../timing/index.ts";

/** One error of the validator. Locations are JSON pointers that start with `#`. */
export interface RawProblem {
  readonly keyword: string;
  readonly keywordLocation: string;
  readonly instanceLocation: string;
  readonly error: string;
}

const MAX_PROBLEMS = 5;
/** The most problems that are put into sentences; several may have the same one. */
const MAX_DESCRIBED = 20;
const MAX_SENTENCE = 240;
const MAX_PATH = 120;
/** The most parts of a schema that are searched for property names. */
const MAX_PARTS = 2000;

const CHOICES = new Set(["anyOf", "oneOf"]);
/** Errors below these belong to one of several alternatives, so none of them is wrong by itself. */
const INSIDE_CHOICE = /\/(anyOf|oneOf)\/\d+(\/|$)/;

/** Problems that are looked at in about a millisecond. */
const PIECE_PROBLEMS = 2000;
/** The problems of a choice follow it; a value may have hundreds of thousands. */
const MAX_INSIDE = 200;

/** Returns at most five sentences, in the order of the schema, and then the number of the others. */
export function* describeProblems(
  problems: readonly RawProblem[],
  schema: JsonSchema,
  value: Json,
): SlicedWork<readonly string[]> {
  const names = listNames(schema);
  const choices = new Set<string>();
  const shown = new Set<string>();
  const plain: number[] = [];
  for (const [at, problem] of problems.entries()) {
    if (CHOICES.has(problem.keyword)) choices.add(problem.instanceLocation);
    if (at % PIECE_PROBLEMS === PIECE_PROBLEMS - 1) yield;
  }
  for (const [at, problem] of problems.entries()) {
    if (!INSIDE_CHOICE.test(problem.keywordLocation) && !isBelow(problem, choices)) plain.push(at);
    if (at % PIECE_PROBLEMS === PIECE_PROBLEMS - 1) yield;
  }
  let described = 0;
  // Sentences cost much more than problems, of which a wide value may have thousands.
  for (const at of plain) {
    const problem = problems[at];
    if (!problem || shown.size === MAX_PROBLEMS || described === MAX_DESCRIBED) break;
    described += 1;
    const inside = problems.slice(at + 1, at + 1 + MAX_INSIDE);
    shown.add(toSentence(problem, { inside, names, value }));
    yield;
  }
  const more = plain.length - described;
  if (shown.size === 0) return ["the value does not fit the schema"];
  return more > 0 ? [...shown, `and ${more} more`] : [...shown];
}

/** For a schema of `false` the validator reports no location in the schema, only one in the value. */
function isBelow({ keyword, instanceLocation }: RawProblem, choices: ReadonlySet<string>): boolean {
  if (keyword !== "false" || choices.size === 0) return false;
  for (let end = instanceLocation.lastIndexOf("/"); end > 0; end = instanceLocation.lastIndexOf("/", end - 1))
    if (choices.has(instanceLocation.slice(0, end))) return true;
  return false;
}

interface ProblemContext {
  /** Those after this one, some of which may be its own. */
  readonly inside: readonly RawProblem[];
  readonly names: readonly string[];
  readonly value: Json;
}

function toSentence(problem: RawProblem, context: ProblemContext): string {
  const path = toPath(problem.instanceLocation);
  const text = toText(problem, context);
  const sentence = path === "" ? text : `${path}: ${text}`;
  return sentence.length > MAX_SENTENCE ? `${sentence.slice(0, MAX_SENTENCE - 1).toWellFormed()}…` : sentence;
}

function toText(problem: RawProblem, context: ProblemContext): string {
  const { keyword, error, instanceLocation } = problem;
  if (keyword === "required") return toMissing(error, context);
  if (keyword === "type") return toTypeText([error]) ?? error;
  if (CHOICES.has(keyword)) return toChoiceText(problem, context.inside);
  if (keyword === "false") return toUnknownName(instanceLocation, context.names);
  if (keyword === "enum") return error.replace(/^Instance does not match any of \[(.*)\]\.$/s, "expected one of $1");
  if (keyword === "const") return error.replace(/^Instance does not match (.*)\.$/s, "expected $1");
  return error.replace(/\.$/, "");
}

const TYPE_ERROR = /^Instance type "(\w+)" is invalid\. Expected "(.*)"\.$/s;

/** Returns `undefined` unless all errors are about types. */
function toTypeText(errors: readonly string[]): string | undefined {
  const matches = errors.map((error) => TYPE_ERROR.exec(error));
  if (matches.length === 0 || matches.some((match) => !match)) return undefined;
  const expected = new Set(matches.flatMap((match) => match?.[2]?.split('", "') ?? []));
  return `expected ${[...expected].join(" or ")}, got ${matches[0]?.[1] ?? "something else"}`;
}

/** A given name that the schema does not have is probably the missing one, misspelled. */
function toMissing(error: string, { names, value }: ProblemContext): string {
  const name = /required property "(.*)"\.$/s.exec(error)?.[1] ?? "";
  const declared = new Set(names);
  const given = isJsonObject(value) ? Object.keys(value).filter((key) => !declared.has(key)) : [];
  const near = findNearestName(name, given);
  const missing = `${toPath(`#/${name}`)} is missing`;
  return near === undefined ? missing : `${missing}; did you misspell it as ${toPath(`#/${near}`)}?`;
}

function toUnknownName(location: string, names: readonly string[]): string {
  const name = decode(location.slice(location.lastIndexOf("/") + 1));
  const near = findNearestName(name, names);
  return near === undefined ? "is not allowed here" : `is not allowed here; did you mean ${near}?`;
}

/** Names the types of the alternatives, or the first problem inside one of them. */
function toChoiceText(
  { keywordLocation, instanceLocation, error }: RawProblem,
  following: readonly RawProblem[],
): string {
  const matches = /\((\d+) matches\)/.exec(error)?.[1];
  if (matches !== undefined && matches !== "0") return `fits ${matches} alternatives where exactly one is allowed`;
  const inside = following.filter((other) => other.keywordLocation.startsWith(`${keywordLocation}/`));
  const own = inside.filter((other) => other.instanceLocation === instanceLocation);
  const types = toTypeText(own.map((other) => other.error));
  const deeper = inside.find((other) => other.instanceLocation !== instanceLocation && !CHOICES.has(other.keyword));
  if (types !== undefined && !deeper) return types;
  const why = deeper
    ? `; in one of them ${toPath(deeper.instanceLocation)} is wrong: ${deeper.error.replace(/\.$/, "")}`
    : "";
  return `fits none of the alternatives${why}`;
}

/** `#/labels/1` is `labels[1]`; a name that is not an identifier is quoted. */
function toPath(location: string): string {
  const steps = location.split("/").slice(1).map(decode);
  const parts = steps.map((step) => {
    if (/^\d+$/.test(step)) return `[${step}]`;
    return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  });
  const path = parts.join("").replace(/^\./, "");
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH - 1).toWellFormed()}…` : path;
}

function decode(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function listNames(schema: JsonSchema): readonly string[] {
  const names = new Set<string>();
  const open: Json[] = [schema];
  for (let left = MAX_PARTS, part = open.pop(); part !== undefined && left > 0; left -= 1, part = open.pop()) {
    if (typeof part !== "object" || part === null) continue;
    const properties = isJsonObject(part) ? part["properties"] : undefined;
    if (isJsonObject(properties)) for (const name of Object.keys(properties).slice(0, MAX_PARTS)) names.add(name);
    open.push(...Object.values(part).slice(0, MAX_PARTS));
  }
  return [...names];
}
