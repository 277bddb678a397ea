/** The step that turns the JSON of a guest into arguments that the tool's schema accepts. */

import { GloveboxError, depthOf, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, JsonObject, Limits, Tool } from "../../domain/index.ts";

import { toSignature } from "../../typegen/index.ts";

import { checkSchema } from "../check-schema.ts";
import type { Crossing } from "../crossing.ts";

/** Message and hint together stay within 1,500 characters, whatever the schema says. */
const MESSAGE_CHARS = 800;
const SIGNATURE_CHARS = 600;

/** Keys that turn into a prototype when a careless receiver copies them. */
const FORBIDDEN_KEY = "__proto__";

export function parseCall(crossing: Crossing): void {
  const { bridge, seq, rawArgs, target, entry } = crossing;
  const { execution, principal, limits } = bridge.options;
  const args = parseArguments(target.tool, rawArgs, limits);
  crossing.tool = target.judge?.(args) ?? target.tool;
  entry.effect = crossing.tool.effect;
  crossing.call = { execution, seq, principal: principal.id, address: crossing.tool.address, args };
}

/** Size first, then syntax, depth, keys and schema: each check makes the next one safe. */
export function parseArguments(tool: Tool, rawArgs: unknown, limits: Limits): JsonObject {
  const text = typeof rawArgs === "string" ? rawArgs : "";
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.argumentBytes) {
    const message = `The arguments of ${tool.address} have ${bytes} bytes; the limit is ${limits.argumentBytes} (argumentBytes)`;
    throw new GloveboxError("LIMIT_SIZE", message, { hint: "Send less in one call" });
  }
  const args = parseJson(text);
  if (!isJsonObject(args)) throw invalid(tool, "it takes one object of named arguments");
  if (depthOf(args, limits.depth) > limits.depth) {
    const message = `The arguments of ${tool.address} nest deeper than ${limits.depth} levels (depth)`;
    throw new GloveboxError("LIMIT_SIZE", message);
  }
  if (holdsKey(args, FORBIDDEN_KEY)) throw invalid(tool, `a key may not be called ${FORBIDDEN_KEY}`);
  const problems = checkSchema(tool.input, args, "arguments");
  if (problems.length > 0) throw invalid(tool, problems.join("; "));
  return args;
}

function invalid(tool: Tool, problem: string): GloveboxError {
  const text = `${tool.address}: ${problem}`;
  const message = text.length > MESSAGE_CHARS ? `${text.slice(0, MESSAGE_CHARS - 1).toWellFormed()}…` : text;
  const hint = `The call is ${toSignature(tool, SIGNATURE_CHARS)}`;
  return new GloveboxError("TOOL_ARGUMENTS_INVALID", message, { hint });
}

/** Depth was checked before, so the recursion is bounded. */
function holdsKey(value: Json, key: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, key) || Object.values(value).some((child) => holdsKey(child, key));
}
