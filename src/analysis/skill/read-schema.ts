/** Reads the schemas of a skill: JSON Schema as a literal, or the plain part of zod, which is translated. */

import type { AnyNode, CallExpression } from "acorn";
import type { Json, JsonObject, JsonSchema } from "../../domain/index.ts";
import { withoutParens } from "../read-tree.ts";
import { objectTo, readObject, readProperties, readValue, resolveConstant } from "./static-value.ts";
import type { SkillText } from "./static-value.ts";

/** A zod schema; `isOptional` matters in an object only. */
interface ZodSchema {
  readonly schema: JsonSchema;
  readonly isOptional: boolean;
}

type Arguments = readonly AnyNode[];
type ZodType = (args: Arguments, text: SkillText, call: AnyNode) => JsonSchema;
type ZodMethod = (zod: ZodSchema, args: Arguments, text: SkillText) => ZodSchema | JsonObject;

export function readSchema(node: AnyNode, text: SkillText): JsonSchema {
  const inner = resolveConstant(node, text);
  return inner.type === "CallExpression" ? readZod(inner, text).schema : readObject(inner, text);
}

function readZod(node: AnyNode, text: SkillText): ZodSchema {
  const inner = resolveConstant(node, text);
  if (inner.type !== "CallExpression") throw objectTo(inner, text, "must be a zod schema");
  const { callee, name } = readCallee(inner, text);
  const { arguments: args } = inner;
  if (callee.type === "Identifier" && callee.name === "z") {
    const type = TYPES.get(name);
    if (!type) throw unsupported(inner, text, `z.${name}`);
    return { schema: type(args, text, inner), isOptional: false };
  }
  const method = METHODS.get(name);
  if (!method) throw unsupported(inner, text, `.${name}`);
  const zod = readZod(callee, text);
  const read = method(zod, args, text);
  return isZod(read) ? read : { ...zod, schema: { ...zod.schema, ...read } };
}

function isZod(read: ZodSchema | JsonObject): read is ZodSchema {
  return typeof read["isOptional"] === "boolean" && "schema" in read;
}

function readCallee(call: CallExpression, text: SkillText): { readonly callee: AnyNode; readonly name: string } {
  const member = withoutParens(call.callee);
  if (member.type !== "MemberExpression" || member.computed || member.property.type !== "Identifier")
    throw objectTo(call, text, "must be a zod schema, or JSON Schema as a literal");
  return { callee: withoutParens(member.object), name: member.property.name };
}

function unsupported(call: AnyNode, text: SkillText, name: string) {
  return objectTo(call, text, `uses ${name}, which a skill cannot use: write JSON Schema instead`);
}

const first = (args: Arguments, text: SkillText, call: AnyNode): AnyNode => {
  const [node] = args;
  if (node) return node;
  throw objectTo(call, text, "lacks an argument");
};

function readItems(node: AnyNode, text: SkillText): readonly AnyNode[] {
  const inner = resolveConstant(node, text);
  if (inner.type !== "ArrayExpression") throw objectTo(inner, text, "must be an array literal");
  return inner.elements.flatMap((item) => item ?? []);
}

function readShape(node: AnyNode, text: SkillText): JsonSchema {
  const fields = readProperties(node, text).map(([key, value]) => ({ key, ...readZod(value, text) }));
  const required = fields.filter(({ isOptional }) => !isOptional).map(({ key }) => key);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(({ key, schema }) => [key, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

const plain =
  (schema: JsonSchema): ZodType =>
  () =>
    schema;

const TYPES: ReadonlyMap<string, ZodType> = new Map<string, ZodType>([
  ["string", plain({ type: "string" })],
  ["number", plain({ type: "number" })],
  ["int", plain({ type: "integer" })],
  ["boolean", plain({ type: "boolean" })],
  ["null", plain({ type: "null" })],
  ["unknown", plain({})],
  ["any", plain({})],
  ["email", plain({ type: "string", format: "email" })],
  ["url", plain({ type: "string", format: "uri" })],
  ["uuid", plain({ type: "string", format: "uuid" })],
  ["literal", (args, text, call) => ({ const: readValue(first(args, text, call), text) })],
  ["enum", (args, text, call) => ({ enum: readValue(first(args, text, call), text) })],
  ["array", (args, text, call) => ({ type: "array", items: readZod(first(args, text, call), text).schema })],
  ["object", (args, text, call) => readShape(first(args, text, call), text)],
  ["strictObject", (args, text, call) => readShape(first(args, text, call), text)],
  [
    "record",
    (args, text, call) => ({
      type: "object",
      additionalProperties: readZod(args.at(-1) ?? first(args, text, call), text).schema,
    }),
  ],
  [
    "union",
    (args, text, call) => ({
      anyOf: readItems(first(args, text, call), text).map((item) => readZod(item, text).schema),
    }),
  ],
]);

/** The keyword of a bound depends on the type that it bounds. */
function bound(side: "min" | "max" | "length", { schema }: ZodSchema, value: Json): JsonObject {
  const { type } = schema;
  const keyword = type === "array" ? "Items" : type === "string" ? "Length" : "imum";
  return side === "length" ? { [`min${keyword}`]: value, [`max${keyword}`]: value } : { [side + keyword]: value };
}

const bounded =
  (side: "min" | "max" | "length"): ZodMethod =>
  (zod, args, text) =>
    bound(side, zod, args[0] ? readValue(args[0], text) : 0);

const nullable = ({ schema }: ZodSchema): JsonSchema => ({ anyOf: [schema, { type: "null" }] });

const METHODS: ReadonlyMap<string, ZodMethod> = new Map<string, ZodMethod>([
  ["optional", ({ schema }) => ({ schema, isOptional: true })],
  ["nullable", (zod) => ({ schema: nullable(zod), isOptional: zod.isOptional })],
  ["nullish", (zod) => ({ schema: nullable(zod), isOptional: true })],
  ["describe", (_, args, text) => ({ description: args[0] ? readValue(args[0], text) : "" })],
  ["min", bounded("min")],
  ["max", bounded("max")],
  ["length", bounded("length")],
  ["int", () => ({ type: "integer" })],
  ["positive", () => ({ exclusiveMinimum: 0 })],
  ["nonnegative", () => ({ minimum: 0 })],
  ["nonempty", (zod) => bound("min", zod, 1)],
  ["email", () => ({ format: "email" })],
  ["url", () => ({ format: "uri" })],
  ["uuid", () => ({ format: "uuid" })],
  ["strict", () => ({ additionalProperties: false })],
]);
