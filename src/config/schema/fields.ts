/** The fields that several parts of the schema share: strings and whole numbers. */

import { z } from "zod";

// String formats are refinements, not patterns: an editor must accept "${VAR}" where the expanded string is checked.
// A message that starts with "expected" is shown unchanged; see `report-issues.ts`.

/** Any string that a command line, an environment variable or a header can carry. */
export const string = z.string().refine((value) => !value.includes("\0"), "expected a string without a NUL character");

/** The same, where an empty string has no meaning. */
export const nonEmptyString = string.min(1);

/** An integer with its range, its default and its description. */
export function integer(
  bounds: { readonly min: number; readonly max: number; readonly usual: number },
  description: string,
) {
  return z.int().min(bounds.min).max(bounds.max).default(bounds.usual).meta({ description });
}
