/**
 * Converts JSON Schema (2020-12, draft-07, parts of draft-04) to a TypeScript type. Total: any JSON has a type, at worst
 * `unknown`. Depth, number of nodes and size are bounded; above a bound a type becomes looser, never wrong.
 */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../domain/index.ts";
import { quote } from "../escape-text.ts";
import { isMark, useDefinition } from "./definitions.ts";
import type { ConvertedType, Definition } from "./definitions.ts";
import { writeOut } from "./named-types.ts";
import { toObjectType } from "./object-type.ts";
import { refOf, resolveRef } from "./resolve-ref.ts";
import { enter, spend } from "./scope.ts";
import type { TypeScope, TypeOptions } from "./scope.ts";
import { NEVER, enclose, intersect, open, single, unite } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

const MAX_DEPTH = 24;
/** A reference resets the depth; this bounds the stack. */
const MAX_LEVEL = 200;
const MAX_NODES = 2000;
const MAX_CHARACTERS = 32 * 1024;
/** A longer enum is data; its general type is shorter. */
const MAX_ENUM = 100;
/** A longer string is data, not a choice. */
const MAX_LITERAL_LENGTH = 200;
const MAX_TUPLE = 16;

const DEFAULTS: TypeOptions = { open: "unknown", commentLength: 120, indent: 0, examples: false };

const SCALARS: ReadonlyMap<string, TypeText> = new Map([
  ...["string", "number", "boolean", "null"].map((type) => [type, single(type)] as const),
  ["integer", single("number")],
]);

const OBJECT_KEYWORDS = "properties required additionalProperties patternProperties propertyNames".split(" ");
const ARRAY_KEYWORDS = ["items", "prefixItems"];
const COMBINERS = ["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf"];

/** Returns the type of all values that the schema accepts, without named types. */
export function schemaToType(schema: JsonSchema, options: Partial<TypeOptions> = {}): string {
  const whole = { ...DEFAULTS, ...options };
  return writeOut(convertSchema(schema, whole), "  ".repeat(whole.indent), open(whole.open));
}

/** The same, with marks for references whose targets may get names. */
export function convertSchema(schema: JsonSchema, options: Partial<TypeOptions>): ConvertedType {
  const budget = { nodes: MAX_NODES, characters: MAX_CHARACTERS };
  const definitions = new Map<string, Definition>();
  const shared = { root: schema, options: { ...DEFAULTS, ...options }, definitions, budget, toType: convert };
  const type = convert(schema, { ...shared, depth: 0, level: 0, refs: ["#"], isPart: true });
  const self = definitions.get("#");
  return { type: self ? useDefinition(self) : type, definitions: [...definitions.values()] };
}

function convert(schema: Json, parent: TypeScope): TypeText {
  const scope = { ...parent, depth: parent.depth + 1, level: parent.level + 1 };
  const within = { ...scope, isPart: true };
  const unknown = open(scope.options.open);
  if (scope.depth > MAX_DEPTH || scope.level > MAX_LEVEL || scope.budget.nodes < 1) return unknown;
  scope.budget.nodes -= 1;
  if (schema === false) return NEVER;
  if (!isJsonObject(schema)) return unknown;
  const parts = [
    fromRef(schema, scope),
    fromKeywords(schema, scope),
    ...listOf(schema["allOf"]).map((part) => convert(part, within)),
    fromChoice(schema["anyOf"], within),
    fromChoice(schema["oneOf"], within),
  ];
  const whole = isNothing(schema["not"]) ? NEVER : intersect(parts, unknown);
  return schema["nullable"] === true ? unite([whole, single("null")], unknown) : whole;
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** TypeScript can express `not` only if it refuses everything. */
function isNothing(not: Json | undefined): boolean {
  return not === true || (isJsonObject(not) && Object.keys(not).length === 0);
}

function fromRef(schema: JsonObject, scope: TypeScope): TypeText {
  const ref = refOf(schema);
  const unknown = open(scope.options.open);
  if (ref === undefined || scope.refs.includes(ref)) return unknown;
  const known = scope.definitions.get(ref);
  if (known) return useDefinition(known);
  const target = resolveRef(scope.root, ref);
  if (target === undefined) return unknown;
  const definition: Definition = { id: scope.definitions.size, ref, isRecursive: false };
  scope.definitions.set(ref, definition);
  const options = { ...scope.options, indent: 0 };
  definition.type = convert(target, { ...scope, options, depth: 0, refs: [...scope.refs, ref] });
  return useDefinition(definition);
}

function fromChoice(choices: Json | undefined, scope: TypeScope): TypeText {
  const unknown = open(scope.options.open);
  const parts = listOf(choices).map((choice) => convert(choice, scope));
  return parts.length === 0 ? unknown : unite(parts, unknown);
}

function fromKeywords(schema: JsonObject, scope: TypeScope): TypeText {
  const unknown = open(scope.options.open);
  if (schema["const"] !== undefined) return toLiteralType(schema["const"], scope);
  const values = listOf(schema["enum"]);
  const literals = values.length > MAX_ENUM ? [] : values.map((value) => toLiteralType(value, scope));
  const listed = literals.length === 0 ? unknown : unite(literals, unknown);
  const types = listed.kind === "unknown" ? toTypes(schema, scope).map((type) => fromType(type, schema, scope)) : [];
  return types.length === 0 ? listed : unite(types, unknown);
}

/** Other keywords may imply `type`; `required` alone does so only if another part describes the same value. */
function toTypes(schema: JsonObject, { isPart }: TypeScope): readonly Json[] {
  const type = schema["type"];
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type;
  const telling = isPart ? OBJECT_KEYWORDS : OBJECT_KEYWORDS.filter((keyword) => keyword !== "required");
  if (hasOne(schema, telling)) return ["object"];
  return hasOne(schema, ARRAY_KEYWORDS) ? ["array"] : [];
}

function fromType(type: Json, schema: JsonObject, scope: TypeScope): TypeText {
  const unknown = open(scope.options.open);
  if (typeof type !== "string") return unknown;
  if (type === "array") return toArrayType(schema, scope);
  if (type === "object") return isRedundant(schema) ? unknown : toObjectType(schema, scope);
  return SCALARS.get(type) ?? unknown;
}

/** A bare `type: object` next to a reference or a choice adds nothing. */
function isRedundant(schema: JsonObject): boolean {
  return !hasOne(schema, OBJECT_KEYWORDS) && hasOne(schema, COMBINERS);
}

function hasOne(schema: JsonObject, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => Object.hasOwn(schema, keyword));
}

/** Returns the literal type of a value of `const` or `enum`, or its general type if it has no short literal. */
function toLiteralType(value: Json, scope: TypeScope): TypeText {
  if (typeof value === "boolean" || value === null) return single(String(value));
  if (Array.isArray(value)) return single(`Array<${scope.options.open}>`);
  if (typeof value === "object") return single(`Record<string, ${scope.options.open}>`);
  const isShort = typeof value === "string" ? value.length <= MAX_LITERAL_LENGTH : Number.isFinite(value);
  if (!isShort) return single(typeof value);
  const text = typeof value === "string" ? quote(value) : JSON.stringify(value);
  return spend(scope, text.length) ? single(text) : open(scope.options.open);
}

/** Returns `T[]`, or a tuple whose members after `minItems` are optional. */
function toArrayType(schema: JsonObject, outside: TypeScope): TypeText {
  const scope = enter(outside);
  const { prefixItems, items, additionalItems, minItems } = schema;
  // A tuple is `prefixItems` in 2020-12, and an array in `items` in draft-07.
  const [first, rest] = Array.isArray(prefixItems)
    ? [prefixItems, Array.isArray(items) ? true : (items ?? true)]
    : [items, additionalItems ?? true];
  if (!Array.isArray(first)) return single(toListText(convert(items ?? true, scope)));
  if (first.length > MAX_TUPLE) return single(`Array<${scope.options.open}>`);
  const required = typeof minItems === "number" ? minItems : 0;
  const members = first.map((member, at) => {
    const type = convert(member, scope);
    return at < required ? type.text : `${enclose(type)}?`;
  });
  const more = rest === false ? [] : [`...${toListText(convert(rest, scope))}`];
  return single(`[${[...members, ...more].join(", ")}]`);
}

function toListText({ text }: TypeText): string {
  return /^[A-Za-z]+$/.test(text) || isMark(text) ? `${text}[]` : `Array<${text}>`;
}
