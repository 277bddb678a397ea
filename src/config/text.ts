/** The shape of a setting that is a text. */

import { z } from "zod";

// String formats are refinements, not patterns: an editor must accept "${VAR}" where the expanded text is checked.
// A message that starts with "expected" is shown as it is; see `report-issues.ts`.

/** Any text that a command line, an environment and a header can carry. */
export const text = z.string().refine((value) => !value.includes("\0"), "expected text without a NUL character");

/** The same, where an empty one would mean nothing. */
export const nonEmptyText = text.min(1);
