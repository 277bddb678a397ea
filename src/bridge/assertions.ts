/** The keywords of JSON Schema that look at a value alone, without schemas inside. Values of other types fit. */

import { canonicalJson, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import { FORMATS } from "../text/index.ts";

import type { RawProblem } from "./describe-problems.ts";
import { matchPattern } from "./match-pattern.ts";
import type { CheckBudget } from "./match-pattern.ts";

type KnownFormat = NonNullable<ReturnType<typeof FORMATS.get>>;

/** Whether a value fits. Some keywords cannot be decided. The order makes `Math.min` "and", and `Math.max` "or". */
export const FAILS = 0;
export const UNKNOWN = 1;
export const FITS = 2;
export type Fit = typeof FAILS | typeof UNKNOWN | typeof FITS;

/** One value at one schema. Locations are JSON pointers that start with `#`. */
export interface SchemaVisit {
  readonly budget: CheckBudget;
  /** Of patterns and formats: those that take too much are not enforced, and the other keywords are. */
  readonly patternBudget: CheckBudget;
  /** Also checks patterns, formats and unique items. */
  readonly isStrict: boolean;
  /** What was found so far. Problems of an alternative are removed if another one fits. */
  readonly problems: RawProblem[];
  readonly valueAt: string;
  readonly schemaAt: string;
}

/** Adds a problem only if it returns `FAILS`. */
export type SchemaCheck = (value: Json, visit: SchemaVisit) => Fit;

export function fail({ problems, valueAt, schemaAt }: SchemaVisit, keyword: string, error: string): typeof FAILS {
  problems.push({ keyword, keywordLocation: `${schemaAt}/${keyword}`, instanceLocation: valueAt, error });
  return FAILS;
}

/** Throws `RangeError` if no steps are left: `$ref`s can multiply, so a short schema can take a billion checks. */
export function spendSteps({ budget }: SchemaVisit, steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw new RangeError("The schema takes too many steps");
}

/** Characters of a string that are read in one step. */
const CHARS_PER_STEP = 500;
/** Characters that the slowest format reads in one step. */
const FORMAT_CHARS_PER_STEP = 30;
/** Characters of an item that are written and compared in one step. */
const ITEM_CHARS_PER_STEP = 8;
const MOST_PATTERN_CHARS = 120;

/** In the order in which problems are reported. A setting of a wrong type is ignored. */
export const ASSERTIONS: Readonly<Record<string, (setting: Json) => SchemaCheck | undefined>> = {
  type: (setting) => {
    if (typeof setting !== "string" && !Array.isArray(setting)) return undefined;
    const expected = typeof setting === "string" ? [setting] : namesOf(setting);
    const kinds = new Set(expected);
    return (value, visit) => {
      const kind = kindOf(value);
      if (kinds.has(kind) || (kinds.has("integer") && Number.isInteger(value))) return FITS;
      return fail(visit, "type", `Instance type "${kind}" is invalid. Expected "${expected.join('", "')}".`);
    };
  },
  const: (setting) => (value, visit) =>
    isEqual(value, setting) ? FITS : fail(visit, "const", `Instance does not match ${JSON.stringify(setting)}.`),
  enum: (setting) => {
    if (!Array.isArray(setting)) return undefined;
    return (value, visit) => {
      if (setting.some((one: Json) => isEqual(value, one))) return FITS;
      return fail(visit, "enum", `Instance does not match any of ${JSON.stringify(setting)}.`);
    };
  },
  required: (setting) => {
    const names = namesOf(setting);
    return (value, visit) => {
      const missing = isJsonObject(value) ? names.filter((name) => !Object.hasOwn(value, name)) : [];
      for (const name of missing) fail(visit, "required", `Instance does not have required property "${name}".`);
      return missing.length > 0 ? FAILS : FITS;
    };
  },
  minProperties: boundCheck("minProperties", {
    measure: keysOf,
    holds: (keys, bound) => keys >= bound,
    describe: (_keys, bound) => `Instance does not have at least ${bound} properties.`,
  }),
  maxProperties: boundCheck("maxProperties", {
    measure: keysOf,
    holds: (keys, bound) => keys <= bound,
    describe: (_keys, bound) => `Instance does not have at most ${bound} properties.`,
  }),
  dependentRequired: createDependentCheck,
  maxItems: boundCheck("maxItems", {
    measure: itemsOf,
    holds: (items, bound) => items <= bound,
    describe: (items, bound) => `Array has too many items (${items} > ${bound}).`,
  }),
  minItems: boundCheck("minItems", {
    measure: itemsOf,
    holds: (items, bound) => items >= bound,
    describe: (items, bound) => `Array has too few items (${items} < ${bound}).`,
  }),
  uniqueItems: (setting) => (setting === true ? checkUnique : undefined),
  minimum: boundCheck("minimum", {
    measure: numberOf,
    holds: (number, bound) => number >= bound,
    describe: (number, bound) => `${number} is less than ${bound}.`,
  }),
  maximum: boundCheck("maximum", {
    measure: numberOf,
    holds: (number, bound) => number <= bound,
    describe: (number, bound) => `${number} is greater than ${bound}.`,
  }),
  exclusiveMinimum: boundCheck("exclusiveMinimum", {
    measure: numberOf,
    holds: (number, bound) => number > bound,
    describe: (number, bound) => `${number} is not greater than ${bound}.`,
  }),
  exclusiveMaximum: boundCheck("exclusiveMaximum", {
    measure: numberOf,
    holds: (number, bound) => number < bound,
    describe: (number, bound) => `${number} is not less than ${bound}.`,
  }),
  multipleOf: boundCheck("multipleOf", {
    measure: numberOf,
    holds: isMultiple,
    describe: (number, bound) => `${number} is not a multiple of ${bound}.`,
  }),
  minLength: boundCheck("minLength", {
    measure: charsOf,
    holds: (chars, bound) => chars >= bound,
    describe: (chars, bound) => `String is too short (${chars} < ${bound}).`,
  }),
  maxLength: boundCheck("maxLength", {
    measure: charsOf,
    holds: (chars, bound) => chars <= bound,
    describe: (chars, bound) => `String is too long (${chars} > ${bound}).`,
  }),
  pattern: (setting) => {
    if (typeof setting !== "string") return undefined;
    return (value, visit) => {
      if (typeof value !== "string") return FITS;
      const isMatch = visit.isStrict ? matchPattern(setting, value, visit.patternBudget) : undefined;
      if (isMatch === undefined) return UNKNOWN;
      return isMatch ? FITS : fail(visit, "pattern", `does not match the pattern ${shorten(setting)}`);
    };
  },
  format: (setting) => {
    const format = FORMATS.get(setting);
    const name = JSON.stringify(setting);
    return (value, visit) => {
      if (typeof value !== "string") return FITS;
      const isFit = format && visit.isStrict ? fitsFormat(format, value, visit.patternBudget) : undefined;
      if (!format || isFit === undefined) return UNKNOWN;
      return isFit ? FITS : fail(visit, "format", `expected the format ${name}, for example ${format.example}`);
    };
  },
};

/** `undefined` if it needs more steps than are left. */
export function fitsFormat(format: KnownFormat, text: string, budget: CheckBudget): boolean | undefined {
  const steps = Math.ceil(text.length / FORMAT_CHARS_PER_STEP);
  if (steps > budget.left) return undefined;
  budget.left -= steps;
  return format.fits(text);
}

interface Bound {
  /** Returns `undefined` for a value of another type. */
  readonly measure: (value: Json, visit: SchemaVisit) => number | undefined;
  readonly holds: (size: number, bound: number) => boolean;
  readonly describe: (size: number, bound: number) => string;
}

function boundCheck(keyword: string, { measure, holds, describe }: Bound): (setting: Json) => SchemaCheck | undefined {
  return (setting) => {
    if (typeof setting !== "number") return undefined;
    return (value, visit) => {
      const size = measure(value, visit);
      if (size === undefined || holds(size, setting)) return FITS;
      return fail(visit, keyword, describe(size, setting));
    };
  };
}

function createDependentCheck(setting: Json): SchemaCheck | undefined {
  if (!isJsonObject(setting)) return undefined;
  const needed = Object.entries(setting).map(([name, names]) => [name, namesOf(names)] as const);
  return (value, visit) => {
    if (!isJsonObject(value)) return FITS;
    let fit: Fit = FITS;
    for (const [name, names] of needed) {
      const missing = Object.hasOwn(value, name) ? names.filter((other) => !Object.hasOwn(value, other)) : [];
      for (const other of missing)
        fit = fail(visit, "dependentRequired", `Instance has "${name}" but does not have "${other}".`);
    }
    return fit;
  };
}

/** Equal items have equal canonical text, so each is looked up once instead of being compared with all others. */
function checkUnique(value: Json, visit: SchemaVisit): Fit {
  if (!Array.isArray(value)) return FITS;
  if (!visit.isStrict) return UNKNOWN;
  const seen = new Map<string, number>();
  for (const [at, item] of value.entries()) {
    const text = canonicalJson(item);
    spendSteps(visit, Math.ceil(text.length / ITEM_CHARS_PER_STEP));
    const first = seen.get(text);
    if (first !== undefined)
      return fail(visit, "uniqueItems", `items ${first} and ${at} are equal; all items must differ`);
    seen.set(text, at);
  }
  return FITS;
}

export function namesOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

function isEqual(one: Json, other: Json): boolean {
  if (one === other) return true;
  const [a, b] = [kindOf(one), kindOf(other)];
  return a === b && (a === "object" || a === "array") && canonicalJson(one) === canonicalJson(other);
}

export function kindOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function keysOf(value: Json): number | undefined {
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}

function itemsOf(value: Json): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function numberOf(value: Json): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** A character outside of the basic plane has two units. */
function charsOf(value: Json, visit: SchemaVisit): number | undefined {
  if (typeof value !== "string") return undefined;
  spendSteps(visit, Math.ceil(value.length / CHARS_PER_STEP));
  let chars = 0;
  for (const _ of value) chars += 1;
  return chars;
}

/** Computes with decimal digits: 0.3 is a multiple of 0.1. */
function isMultiple(number: number, unit: number): boolean {
  // JSON can write a number that is too large for a double.
  if (unit <= 0 || !Number.isFinite(number) || !Number.isFinite(unit)) return false;
  const [[digits, exponent], [unitDigits, unitExponent]] = [toDecimal(number), toDecimal(unit)];
  const shift = BigInt(Math.abs(exponent - unitExponent));
  return exponent >= unitExponent
    ? (digits * 10n ** shift) % unitDigits === 0n
    : digits % (unitDigits * 10n ** shift) === 0n;
}

/** Digits and a power of ten. */
function toDecimal(number: number): readonly [bigint, number] {
  const [digits = "0", exponent = "0"] = Math.abs(number).toString().split("e");
  const [whole = "0", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

function shorten(pattern: string): string {
  const isShort = pattern.length <= MOST_PATTERN_CHARS;
  return isShort ? pattern : `${pattern.slice(0, MOST_PATTERN_CHARS).toWellFormed()}…`;
}

/** The steps that one check of this schema counts: every listed value and name may be compared or quoted. */
export function weigh(schema: JsonObject): number {
  const { enum: listed, const: only, required, properties, dependentRequired, dependencies } = schema;
  const values = [listed, only].map((value) =>
    value === undefined ? 0 : JSON.stringify(value).length / ITEM_CHARS_PER_STEP,
  );
  const names = [required, properties, dependentRequired, dependencies].map(sizeOf);
  return Math.ceil([...values, ...names].reduce((sum, one) => sum + one, 1));
}

function sizeOf(value: Json | undefined): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}
