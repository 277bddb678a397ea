/** Step 6 of a crossing: turns what an upstream answered into text that may enter the isolate. */

import { GloveboxError, depthOf, isJsonObject } from "../domain/index.ts";
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
  const json = toWellFormedJson(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > limits.resultBytes) {
    const message = `The result of ${tool.address} has ${bytes} bytes; the limit is ${limits.resultBytes} (resultBytes)`;
    throw new GloveboxError("LIMIT_SIZE", message, { hint: "Ask the tool for less: a filter, a page, fewer fields" });
  }
  const problems = tool.output ? checkSchema(tool.output, value) : [];
  if (problems.length > 0) {
    const message = `${tool.address} answered against its own schema: ${problems.join("; ")}`;
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", message, {
      hint: "The server is at fault; its operator should know",
    });
  }
  return json;
}

/** Half of a surrogate pair is no text: it becomes U+FFFD. JSON writes it as an escape, which makes it easy to notice. */
function toWellFormedJson(value: Json): string {
  const json = JSON.stringify(value);
  if (!/\\ud[89a-f]/i.test(json)) return json;
  return JSON.stringify(toWellFormed(value));
}

/** The depth was checked before, so the recursion is bounded. */
function toWellFormed(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item: Json) => toWellFormed(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), toWellFormed(item)]));
}
