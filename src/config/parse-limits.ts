/** Limits that come from elsewhere than a file keep to the same ranges. */

import { GloveboxError } from "../domain/index.ts";
import type { Limits } from "../domain/index.ts";
import { limitsSchema } from "./sandbox-schema.ts";

/** The limits unchanged, or REQUEST_INVALID for the first that is out of its range. */
export function parseLimits(limits: Limits): Limits {
  const parsed = limitsSchema.safeParse(limits);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GloveboxError(
    "REQUEST_INVALID",
    `The limit ${issue?.path.join(".")} is out of its range: ${issue?.message}`,
    {
      hint: "docs/reference/configuration.md has the range of each limit",
    },
  );
}
