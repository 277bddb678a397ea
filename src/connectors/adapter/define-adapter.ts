/** Called by the author of an adapter: turns a description with schemas into an adapter. */

import { z } from "zod";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Adapter, AdapterContext, Effect, Json, JsonObject, JsonSchema } from "../../domain/index.ts";
import { isLarge } from "../../text/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

/** A schema of zod 4, whichever copy of it made the schema. */
export interface SchemaOfZod {
  readonly _zod: { readonly output: unknown };
}

/** A schema of zod 4 or a JSON Schema. */
export type AdapterSchema = SchemaOfZod | JsonSchema;

/** What `run` receives: the output of the zod schema, or the arguments as they are. */
export type AdapterArguments<Input> = Input extends SchemaOfZod ? Input["_zod"]["output"] : JsonObject;

/** One tool as its author writes it. */
export interface AdapterToolDefinition<Input> {
  /** Shown to the model. Listings show the first sentence only. */
  readonly description: string;
  /** The schema of the arguments, one object. */
  readonly input: Input;
  /** The schema of the result, if it should be checked and shown. */
  readonly output?: AdapterSchema;
  /** What the tool does to the world; the policy uses it. Default: unknown. */
  readonly effect?: Effect;
  /** Runs on the host, with all of its rights. Must return JSON. What it throws is thrown in the program. */
  readonly run: (args: AdapterArguments<Input>, context: AdapterContext) => unknown;
}

/** An adapter as its author writes it. */
export interface AdapterDefinition<Inputs> {
  /** Its name as an upstream, which is also its namespace. */
  readonly name: string;
  readonly tools: { readonly [Name in keyof Inputs]: AdapterToolDefinition<Inputs[Name]> };
}

/** Throws `CONFIG_INVALID` for a zod schema that JSON Schema cannot express, such as one for dates. */
export function defineAdapter<Inputs extends Readonly<Record<string, AdapterSchema>>>(
  definition: AdapterDefinition<Inputs>,
): Adapter {
  const tools = Object.entries<unknown>(definition.tools).map(([name, raw]): [string, Adapter["tools"][string]] => {
    const place = `${definition.name}.${name}`;
    if (isToolDefinition(raw)) return [name, toTool(place, raw)];
    throw new GloveboxError("CONFIG_INVALID", `${place} is not a tool`, {
      hint: "Give it a description, an input schema and a run function",
    });
  });
  return Object.freeze({
    kind: "glovebox.adapter",
    name: definition.name,
    tools: Object.freeze(Object.fromEntries(tools)),
  });
}

/** Each `run` takes what its own schema makes, which `toTool` ensures; the compiler cannot follow that. */
function isToolDefinition(raw: unknown): raw is AdapterToolDefinition<AdapterSchema> {
  const { description, input, run }: Readonly<Record<string, unknown>> = isJsonObject(raw) ? raw : {};
  return typeof description === "string" && typeof input === "object" && input !== null && typeof run === "function";
}

function toTool(
  place: string,
  { description, input, output, effect, run }: AdapterToolDefinition<AdapterSchema>,
): Adapter["tools"][string] {
  const toInvalidArguments = (problem: string): GloveboxError =>
    new GloveboxError("TOOL_ARGUMENTS_INVALID", `${place}: ${problem}`, {
      hint: "Correct the arguments; `describe` shows what the tool takes",
    });
  const toInvalidResult = (problem: string): GloveboxError =>
    new GloveboxError("UPSTREAM_RESULT_INVALID", `${place}: the result does not match the output schema: ${problem}`, {
      hint: "Fix the adapter: its result does not match the output that it declares",
    });
  /** The bridge has checked the arguments against the JSON Schema. zod adds refinements, defaults and transforms. */
  const runChecked = async (args: JsonObject, context: AdapterContext): Promise<unknown> => {
    const result = await run(isZod(input) ? await validate(input, args, toInvalidArguments) : args, context);
    // A zod object drops unknown fields, where its JSON Schema would refuse the whole result.
    return output && isZod(output) ? validate(output, runAtOnce(toJson(result, place)), toInvalidResult) : result;
  };
  const hasZod = isZod(input) || (output !== undefined && isZod(output));
  return Object.freeze({
    description,
    input: toJsonSchema(place, input, "input"),
    output: output === undefined ? null : toJsonSchema(place, output, "output"),
    effect: effect ?? "unknown",
    run: hasZod ? runChecked : run,
  });
}

function toJsonSchema(place: string, schema: AdapterSchema, io: "input" | "output"): JsonSchema {
  if (!isZod(schema)) return isJsonObject(schema) ? schema : {};
  try {
    const converted: unknown = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, target: "draft-2020-12" })));
    return isJsonObject(converted) ? converted : {};
  } catch (cause) {
    throw new GloveboxError("CONFIG_INVALID", `The ${io} of ${place} cannot be written as JSON Schema`, {
      hint: "Use types that JSON has: strings, numbers, booleans, arrays and objects",
      cause,
    });
  }
}

/** Recognized by its properties, not its class: the adapter may use another copy of zod. */
function isZod(schema: AdapterSchema): schema is z.ZodType {
  return "_zod" in schema && "~standard" in schema;
}

async function validate(schema: z.ZodType, value: Json, toError: (problem: string) => GloveboxError): Promise<unknown> {
  const checked = await schema["~standard"].validate(value);
  if (!checked.issues) return checked.value;
  throw toError(explain(checked.issues));
}

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Shows the first issue only; the author fixes one after the other. */
function explain([issue]: readonly Issue[]): string {
  const path = (issue?.path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".");
  return `${path && `${path}: `}${issue?.message ?? "invalid"}`;
}

/**
 * Checks that a result is JSON, because only JSON enters the sandbox, and returns a copy. `undefined` becomes `null`, undefined properties are dropped, and `toJSON` is applied (dates).
 * `source` is named in the error. Throws `UPSTREAM_RESULT_INVALID` for circular values, BigInt, functions, symbols, NaN
 * and infinities.
 */
export function* toJson(value: unknown, source: string): SlicedWork<Json> {
  try {
    return (yield* copyJson(value, "")) ?? null;
  } catch (cause) {
    const why = cause instanceof NotJson ? cause.message : "it is circular, too deep or cannot be serialized";
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", `${source}: the result is not JSON: ${why}`, {
      hint: "Fix the adapter: it may return strings, numbers, booleans, null, arrays and plain objects",
      cause,
    });
  }
}

/** As `JSON.stringify` and `JSON.parse` would copy it; `undefined` if JSON would leave it out. */
function* copyJson(value: unknown, key: string, levels = SLICED_LEVELS): SlicedWork<Json | undefined> {
  if (levels === 0 || !isPlain(value) || !isLarge(value)) {
    const copy = copyWhole(value, key);
    yield;
    return copy;
  }
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const [index, item] of value.entries()) items.push((yield* copyJson(item, `${index}`, levels - 1)) ?? null);
    return items;
  }
  const entries: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const item = yield* copyJson(value[name], name, levels - 1);
    if (item !== undefined) entries.push([name, item]);
  }
  return Object.fromEntries(entries);
}

/** A large array or object is copied item by item, to this depth: what is circular ends there. */
const SLICED_LEVELS = 16;

/** An array or object that JSON copies as it is. */
function isPlain(value: unknown): value is Record<string, unknown> | unknown[] {
  if (typeof value !== "object" || value === null || "toJSON" in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function copyWhole(value: unknown, outerKey: string): Json | undefined {
  const text = JSON.stringify(value, (key, item: unknown) => refuseForeign(key === "" ? outerKey : key, item));
  if (text === undefined) return undefined;
  const copy: Json = JSON.parse(text);
  return copy;
}

class NotJson extends Error {}

function refuseForeign(key: string, value: unknown): unknown {
  const kind = typeof value;
  if (kind === "bigint" || kind === "function" || kind === "symbol") throw new NotJson(`${place(key)} is a ${kind}`);
  if (kind === "number" && !Number.isFinite(value)) throw new NotJson(`${place(key)} is ${String(value)}`);
  if (value instanceof Map || value instanceof Set) throw new NotJson(`${place(key)} is a Map or a Set`);
  return value;
}

function place(key: string): string {
  return key === "" ? "the value" : JSON.stringify(key.slice(0, 60));
}
