/** What the author of an adapter calls: turns a description with schemas into an adapter that can be called. */

import { z } from "zod";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Adapter, AdapterContext, AdapterTool, Effect, JsonObject, JsonSchema } from "../../domain/index.ts";

/** A schema of zod 4, or a JSON Schema. */
export type AdapterSchema = z.ZodType | JsonSchema;

/** What `run` is given: what the schema makes of the arguments, or the arguments themselves. */
export type AdapterArguments<Input> = Input extends z.ZodType ? z.output<Input> : JsonObject;

/** One tool as its author writes it. */
export interface AdapterToolDefinition<Input> {
  /** What the model reads; the first sentence stands for all of it in lists. */
  readonly description: string;
  /** The arguments, one object. */
  readonly input: Input;
  /** The result, if it is to be checked and shown. */
  readonly output?: AdapterSchema;
  /** What the tool does to the world, which policy goes by; unknown when left out. */
  readonly effect?: Effect;
  /** Runs on the host, with all of its rights. What it returns must be JSON; what it throws, the program meets. */
  readonly run: (args: AdapterArguments<Input>, context: AdapterContext) => unknown;
}

/** An adapter as its author writes it. */
export interface AdapterDefinition<Inputs> {
  /** Its name as an upstream, which becomes its namespace. */
  readonly name: string;
  readonly tools: { readonly [Name in keyof Inputs]: AdapterToolDefinition<Inputs[Name]> };
}

/** Throws `CONFIG_INVALID` when a schema of zod has no form in JSON Schema, such as one of dates. */
export function defineAdapter<Inputs extends Readonly<Record<string, AdapterSchema>>>(
  definition: AdapterDefinition<Inputs>,
): Adapter {
  const entries = Object.entries<AdapterToolDefinition<AdapterSchema>>(parseTools(definition.tools));
  const tools = entries.map(([name, tool]): [string, AdapterTool] => [
    name,
    toTool(`${definition.name}.${name}`, tool),
  ]);
  return Object.freeze({
    kind: "glovebox.adapter",
    name: definition.name,
    tools: Object.freeze(Object.fromEntries(tools)),
  });
}

type AnyTools = Readonly<Record<string, AdapterToolDefinition<AdapterSchema>>>;

/** Each `run` takes what its own schema makes, which `toTool` sees to; the compiler cannot follow that far. */
function parseTools(tools: object): AnyTools {
  return tools as AnyTools;
}

function toTool(
  place: string,
  { description, input, output, effect, run }: AdapterToolDefinition<AdapterSchema>,
): AdapterTool {
  return Object.freeze({
    description,
    input: toJsonSchema(place, input, "input"),
    output: output === undefined ? null : toJsonSchema(place, output, "output"),
    effect: effect ?? "unknown",
    run: async (args: JsonObject, context: AdapterContext) => run(await parseWith(place, input, args), context),
  });
}

function toJsonSchema(place: string, schema: AdapterSchema, io: "input" | "output"): JsonSchema {
  if (!isZod(schema)) return schema;
  try {
    const converted: unknown = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, target: "draft-2020-12" })));
    return isJsonObject(converted) ? converted : {};
  } catch (cause) {
    throw new GloveboxError("CONFIG_INVALID", `The ${io} of ${place} cannot be written as JSON Schema`, {
      hint: "Use types that JSON has: text, numbers, booleans, lists and objects",
      cause,
    });
  }
}

/** Known by its mark, not its class: the adapter may use another copy of zod. */
function isZod(schema: AdapterSchema): schema is z.ZodType {
  return "_zod" in schema && "~standard" in schema;
}

/** The bridge has checked the arguments against the JSON Schema; zod knows refinements, defaults and transforms. */
async function parseWith(place: string, schema: AdapterSchema, args: JsonObject): Promise<JsonObject> {
  if (!isZod(schema)) return args;
  const checked = await schema["~standard"].validate(args);
  if (!checked.issues) return checked.value as JsonObject;
  const [issue] = checked.issues;
  const path = (issue?.path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".");
  throw new GloveboxError("TOOL_ARGUMENTS_INVALID", `${place}: ${path && `${path}: `}${issue?.message ?? "invalid"}`, {
    hint: "Correct the arguments; describe shows what the tool takes",
  });
}
