/** The `input` of clients that write JSON twice: a string with an object or an array in it. */

import { expectsText } from "../../analysis/index.ts";
import { depthOf, parseJson } from "../../domain/index.ts";
import type { Finding, Limits } from "../../domain/index.ts";
import type { ExecuteInput } from "../requests.ts";

const LOOKS_LIKE_JSON = /^\s*[[{]/u;

const NOTE: Finding = {
  rule: "input",
  severity: "info",
  message: "`input` was a string with JSON in it, and the program gets the parsed value; send the value itself",
  line: 1,
  column: 1,
};

/**
 * Parses the string and adds a finding, if the surface asks for it. A string stays a string if the program uses it as one,
 * if it is not an object or an array, and if it nests deeper than programs may.
 */
export function parseTextInput(
  { parsesInput = false, ...request }: ExecuteInput,
  { depth }: Pick<Limits, "depth">,
): Omit<ExecuteInput, "parsesInput"> {
  const { input, source } = request;
  if (!parsesInput || typeof input !== "string" || !LOOKS_LIKE_JSON.test(input) || expectsText(source)) return request;
  const parsed = parseJson(input);
  if (typeof parsed !== "object" || parsed === null || depthOf(parsed, depth) > depth) return request;
  return { ...request, input: parsed, notes: [NOTE] };
}
