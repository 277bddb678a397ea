/** Numbers that a plain schema allows, the most ordinary first. */

import type { JsonObject } from "../../domain/index.ts";

import { numberOf } from "./read-schema.ts";

/** As the schema checker rounds: parts of binary fractions are never exact. */
const TOLERANCE = 1.1920929e-7;

/** Different for each `salt` where there is room, for lists whose items must differ. */
export function sampleNumbers(schema: JsonObject, isInteger: boolean, salt: number): readonly number[] {
  const low = Math.max(numberOf(schema, "minimum") ?? -Infinity, numberOf(schema, "exclusiveMinimum") ?? -Infinity);
  const high = Math.min(numberOf(schema, "maximum") ?? Infinity, numberOf(schema, "exclusiveMaximum") ?? Infinity);
  const step = numberOf(schema, "multipleOf") ?? 0;
  const near = [1 + salt, 0, low + salt, low + 1 + salt, high - salt, high - 1 - salt, (low + high) / 2];
  const stepped =
    step > 0 ? near.flatMap((value) => [Math.ceil(value / step) * step + salt * step, floorTo(value, step)]) : near;
  const whole = isInteger ? stepped.flatMap((value) => [Math.ceil(value), Math.floor(value)]) : stepped;
  const wholeSteps = isInteger && step > 0 ? multiplesThatAreWhole(step, { low, high }) : [];
  const fitting = [...whole, ...wholeSteps].filter((value) => fits(schema, value, isInteger));
  return [...new Set(fitting.map((value) => value + 0))]; // no negative zero
}

function floorTo(value: number, step: number): number {
  return Math.floor(value / step) * step;
}

/** For steps such as 2.5, of which only some multiples are whole. */
function multiplesThatAreWhole(step: number, { low, high }: { low: number; high: number }): readonly number[] {
  const start = Number.isFinite(low)
    ? Math.ceil(low / step)
    : Number.isFinite(high)
      ? Math.floor(high / step) - TRIED
      : 1;
  return Array.from({ length: TRIED }, (_, index) => Math.round((start + index) * step));
}

const TRIED = 100;

function fits(schema: JsonObject, value: number, isInteger: boolean): boolean {
  if (!Number.isFinite(value) || (isInteger && !Number.isInteger(value))) return false;
  const step = numberOf(schema, "multipleOf") ?? 0;
  if (step > 0 && !isMultiple(value, step)) return false;
  return (
    value >= (numberOf(schema, "minimum") ?? -Infinity) &&
    value <= (numberOf(schema, "maximum") ?? Infinity) &&
    value > (numberOf(schema, "exclusiveMinimum") ?? -Infinity) &&
    value < (numberOf(schema, "exclusiveMaximum") ?? Infinity)
  );
}

function isMultiple(value: number, step: number): boolean {
  const rest = Math.abs(value % step);
  return rest < TOLERANCE || Math.abs(step - rest) < TOLERANCE;
}
