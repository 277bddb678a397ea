/** What the author of an adapter calls: turns a description with schemas into an adapter that can be called. */

import { z } from "zod";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Adapter, AdapterContext, Effect, Json, JsonObject, JsonSchema } from "../../domain/index.ts";
import { toJson } from "./to-json.ts";

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
  const tools = entries.map(([name, tool]): [string, Adapter["tools"][string]] => [
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
): Adapter["tools"][string] {
  return Object.freeze({
    description,
    input: toJsonSchema(place, input, "input"),
    output: output === undefined ? null : toJsonSchema(place, output, "output"),
    effect: effect ?? "unknown",
    run: async (args: JsonObject, context: AdapterContext) => {
      const result = await run(await parseArguments(place, input, args), context);
      return output !== undefined && isZod(output) ? parseResult(place, output, toJson(result, place)) : result;
    },
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
async function parseArguments(place: string, schema: AdapterSchema, args: JsonObject): Promise<JsonObject> {
  if (!isZod(schema)) return args;
  const checked = await schema["~standard"].validate(args);
  if (!checked.issues) return checked.value as JsonObject;
  throw new GloveboxError("TOOL_ARGUMENTS_INVALID", `${place}: ${explain(checked.issues)}`, {
    hint: "Correct the arguments; describe shows what the tool takes",
  });
}

/** An object of zod drops the fields that it does not name, where its JSON Schema would refuse the whole result. */
async function parseResult(place: string, schema: z.ZodType, result: Json): Promise<unknown> {
  const checked = await schema["~standard"].validate(result);
  if (!checked.issues) return checked.value;
  throw new GloveboxError("UPSTREAM_RESULT_INVALID", `${place}: the result does not fit: ${explain(checked.issues)}`, {
    hint: "The adapter is at fault: what it returned does not fit the output that it declares",
  });
}

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The first says enough: its author corrects one after the other. */
function explain([issue]: readonly Issue[]): string {
  const path = (issue?.path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".");
  return `${path && `${path}: `}${issue?.message ?? "invalid"}`;
}
