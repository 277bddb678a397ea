/** Builders of fields that several parts of the schema share. */

import { z } from "zod";

import type { HostReading } from "./values/host-pattern.ts";

// String formats are refinements, not patterns: an editor must accept "${VAR}" where the expanded string is checked.
// A message that starts with "expected" is shown unchanged; see `report-issues.ts`.

/** Any string that a command line, an environment variable or a header can carry. */
export const string = z.string().refine((value) => !value.includes("\0"), "expected a string without a NUL character");

export const nonEmptyString = string.min(1);

export const strings = z.record(z.string(), string);

export function flag(usual: boolean, description: string) {
  return z.boolean().default(usual).describe(description);
}

/** The first value is the default. */
export function choice<const Value extends string>(values: readonly [Value, ...Value[]], description: string) {
  return z.enum(values).default(values[0]).describe(description);
}

export function integer([min, max]: readonly [min: number, max: number], usual: number, description: string) {
  return z.int().min(min).max(max).default(usual).describe(description);
}

export function optional<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.optional().describe(description);
}

// Formats are checked, not transformed: JSON Schema omits the default of every field that contains a transformed one.

/** A string that `read` accepts; for others, `read` provides the message. */
export function readable(read: (text: string) => HostReading<unknown>) {
  return z.string().superRefine((text, context) => {
    const result = read(text);
    if (!result.ok) context.addIssue({ code: "custom", message: result.expected });
  });
}

/** A string that `parse` accepts; `expected` is the message about all others. */
export function parsable(parse: (text: string) => unknown, expected: string) {
  return z.string().refine((text) => parse(text) !== undefined, expected);
}
