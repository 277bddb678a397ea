/** The step that turns the JSON of a guest into arguments that the tool's schema accepts. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, Limits, Tool } from "../../domain/index.ts";

import { findExcess, readJson } from "../../text/index.ts";
import type { SlicedWork } from "../../timing/index.ts";
import { toSignature } from "../../typegen/index.ts";

import { checkSchema } from "../check-schema.ts";
import { startInSlices } from "../crossing.ts";
import type { Crossing } from "../crossing.ts";

/** Message and hint together stay within 1,500 characters, whatever the schema says. */
const MESSAGE_CHARS = 800;
const SIGNATURE_CHARS = 600;

/** Keys that turn into a prototype when a careless receiver copies them. */
const FORBIDDEN_KEY = "__proto__";
/** Also where an underscore is escaped. */
const MAY_HOLD_FORBIDDEN = /__proto__|\\u005f/i;

/** Large arguments are parsed in slices. */
export function parseCall(crossing: Crossing): Promise<void> | undefined {
  const { bridge, seq, rawArgs, target, entry } = crossing;
  const { execution, principal, limits } = bridge.options;
  const take = (args: JsonObject): void => {
    crossing.tool = target.judge?.(args) ?? target.tool;
    entry.effect = crossing.tool.effect;
    crossing.call = { execution, seq, principal: principal.id, address: crossing.tool.address, args };
  };
  return startInSlices(parseArguments(target.tool, rawArgs, limits), bridge.hostTime.spend, take);
}

/** Size first, then syntax, depth, keys and schema: each check makes the next one safe. */
export function* parseArguments(tool: Tool, rawArgs: unknown, limits: Limits): SlicedWork<JsonObject> {
  const text = typeof rawArgs === "string" ? rawArgs : "";
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.argumentBytes) {
    const message = `The arguments of ${tool.address} have ${bytes} bytes; the limit is ${limits.argumentBytes} (argumentBytes)`;
    throw new GloveboxError("LIMIT_SIZE", message, { hint: "Send less in one call" });
  }
  const args = yield* readJson(text);
  if (!isJsonObject(args)) throw invalid(tool, "it takes one object of named arguments");
  const excess = yield* findExcess(args, limits.depth);
  if (excess) {
    const deep = `nest deeper than ${limits.depth} levels (depth)`;
    const problem = excess.of === "depth" ? deep : `have an object with more than ${excess.most} keys`;
    throw new GloveboxError("LIMIT_SIZE", `The arguments of ${tool.address} ${problem}`);
  }
  if (MAY_HOLD_FORBIDDEN.test(text) && holdsKey(args, FORBIDDEN_KEY))
    throw invalid(tool, `a key may not be called ${FORBIDDEN_KEY}`);
  const problems = yield* checkSchema(tool.input, args, "arguments");
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
