/** Step 6 of a crossing: turns what an upstream answered into text that may enter the isolate. */

import { GloveboxError, depthOf } from "../domain/index.ts";
import type { Json, Limits, Tool } from "../domain/index.ts";

import { checkSchema } from "./check-schema.ts";

/** The JSON text of a result within the limits; a declared output schema is held against the server. */
export function parseResult(tool: Tool, value: Json, limits: Limits): string {
  if (depthOf(value, limits.depth) > limits.depth) {
    throw new GloveboxError(
      "LIMIT_SIZE",
      `The result of ${tool.address} nests deeper than ${limits.depth} levels (depth)`,
    );
  }
  const json = JSON.stringify(value).toWellFormed();
  const bytes = Buffer.byteLength(json);
  if (bytes > limits.resultBytes) {
    const message = `The result of ${tool.address} has ${bytes} bytes; the limit is ${limits.resultBytes} (resultBytes)`;
    throw new GloveboxError("LIMIT_SIZE", message, { hint: "Ask the tool for less: a filter, a page, fewer fields" });
  }
  const problem = tool.output ? checkSchema(tool.output, value) : undefined;
  if (problem) {
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", `${tool.address} answered against its own schema: ${problem}`, {
      hint: "The server is at fault; its operator should know",
    });
  }
  return json;
}
