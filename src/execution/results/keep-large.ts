/** Puts a large value aside: the answer keeps a sample of it and the handle under which the rest is read. */

import { GloveboxError, describeError } from "../../domain/index.ts";
import type { ExecutionResult, Json, Limits } from "../../domain/index.ts";

import { sampleValue } from "./sample-value.ts";

/** A value that fits with its logs into `outputBytes` stays as it is. One that cannot be kept either is a failure. */
export async function keepLarge(
  result: ExecutionResult,
  { outputBytes }: Limits,
  keep: (value: Json) => Promise<NonNullable<ExecutionResult["truncated"]>>,
): Promise<ExecutionResult> {
  const { value, ...rest } = result;
  if (value === undefined || result.stats.outputBytes <= outputBytes) return result;
  try {
    return { ...rest, value: sampleValue(value), truncated: await keep(value) };
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code !== "LIMIT_SIZE") throw thrown;
    return { ...rest, state: "failed", error: describeError(thrown) };
  }
}
