/** Declares one tool as a method of its namespace, with the requested detail. */

import { describeEffect, isJsonObject } from "../domain/index.ts";
import type { Json, JsonSchema, Tool } from "../domain/index.ts";
import { createRecent } from "../timing/index.ts";
import { quote, toCommentText, toKey } from "./escape-text.ts";
import type { ConvertedType } from "./types/definitions.ts";
import { createNamedTypes } from "./types/named-types.ts";
import type { NamedTypes } from "./types/named-types.ts";
import { hasDeadRef, refOf, resolveRef } from "./types/resolve-ref.ts";
import { convertSchema, schemaToType } from "./types/schema-to-type.ts";

/** `brief`: one comment line per tool. `types`: a declaration. `full`: a declaration with the server's whole description. */
export type DescribeDetail = "brief" | "types" | "full";

const SUMMARY_LENGTH = 120;
const DESCRIPTION_LENGTH = 2048;
const NAME_LENGTH = 128;
const CALL_LENGTH = 400;
const MAX_BRIEF_NAMES = 12;
/** The tools whose converted types are kept, for each detail; each has some kilobytes. */
const KEPT_TOOLS = 300;
const COMMENT_LENGTH = { types: 120, full: 1000 } as const;

/** Above this many parts of a schema, arguments count as required: less convenient, but never wrong. */
const MAX_PARTS = 200;

export function declareTool(tool: Tool, detail: DescribeDetail): string {
  if (detail === "brief") return declareBriefly(tool);
  const types = createNamedTypes(namespaceOf(tool));
  return declareNamespace(namespaceOf(tool), [declareMember(tool, detail, types)], types);
}

/** Declares a tool, followed by as many of the types it uses as fit, nearest first. For short messages. */
export function declareToolFirst(tool: Tool, maxLength: number): string {
  const types = createNamedTypes(namespaceOf(tool));
  const member = `declare const ${namespaceOf(tool)}: {\n${declareMember(tool, "types", types)}\n};`;
  return [member, ...types.declareWithin(maxLength - member.length, member)].join("\n");
}

/** Declares a global object with these methods, after the types that they use. */
export function declareNamespace(name: string, members: readonly string[], types: NamedTypes): string {
  return [...types.declare(), `declare const ${name}: {\n${members.join("\n")}\n};`].join("\n");
}

export function namespaceOf(tool: Tool): string {
  return tool.address.slice(0, tool.address.indexOf("."));
}

/** Returns a one-line comment: the call with its argument names, the effect and the summary. */
export function declareBriefly(tool: Tool): string {
  const kind = [describeEffect(tool), ...(tool.labels ?? [])].join(", ");
  return `// ${tool.address}(${toArgumentNames(tool.input)}) ${kind}: ${toCommentText(tool.summary, SUMMARY_LENGTH)}`;
}

/** Declares a method without types, if the declarations are full. */
export function declareLoosely(tool: Tool): string {
  return `  ${toMethodName(tool)}(args?: Record<string, unknown>): Promise<any>;`;
}

/** Declares a method with its comment, indented once. Adds the types it uses to `types`. */
export function declareMember(tool: Tool, detail: "types" | "full", types: NamedTypes): string {
  const converted = CONVERTED[detail].getOr(tool, () => convertTool(tool, detail));
  const method = toMethod(tool);
  const input = types.finish(converted.input, `${method}Args`, "  ");
  const args = input === "unknown" ? "Record<string, unknown>" : input;
  const output = converted.output ? types.finish(converted.output, `${method}Result`, "  ") : "any";
  const mark = needsArguments(tool.input, { root: tool.input, left: MAX_PARTS }) ? "" : "?";
  return `${toComment(tool, detail)}\n  ${toMethodName(tool)}(args${mark}: ${args}): Promise<${output}>;`;
}

interface ConvertedTool {
  readonly input: ConvertedType;
  readonly output: ConvertedType | undefined;
}

/** Converting is most of the work, and a program may ask for the same tools again and again. Tools are immutable. */
const CONVERTED = {
  types: createRecent<Tool, ConvertedTool>(KEPT_TOOLS),
  full: createRecent<Tool, ConvertedTool>(KEPT_TOOLS),
};

function convertTool({ input, output, learned }: Tool, detail: "types" | "full"): ConvertedTool {
  const options = { commentLength: COMMENT_LENGTH[detail], indent: 1, examples: detail === "full" };
  const result = output ?? learned;
  return {
    input: convertSchema(input, { ...options, open: "unknown" }),
    output: result && convertSchema(result, { ...options, open: "any" }),
  };
}

/** Returns the call on one line without comments, for errors about wrong arguments. */
export function toSignature(tool: Tool, maxLength: number): string {
  const type = schemaToType(tool.input, { commentLength: 0, open: "unknown" }).replaceAll(/\n */g, " ");
  const whole = `${tool.address}(${type})`;
  if (whole.length <= maxLength) return whole;
  const brief = `${tool.address}(${toArgumentNames(tool.input)})`;
  return brief.length <= maxLength ? brief : `${brief.slice(0, maxLength - 1)}…`;
}

/** A longer signature is read with `describe`, which has room for comments and named types. */
const MAX_SIGNATURE = 480;
/** In place of a result type that is too long for one line. */
const LONG_RESULT = "Promise<…>";

const SIGNED = createRecent<Tool, { readonly text: string | undefined }>(KEPT_TOOLS);

/** Returns the call with the types of its arguments and its result on one line; nothing if the arguments are too long. */
export function signCall(tool: Tool): string | undefined {
  return SIGNED.getOr(tool, () => ({ text: toCallSignature(tool) })).text;
}

function toCallSignature(tool: Tool): string | undefined {
  const input = toOneLine(tool.input, "unknown");
  const mark = needsArguments(tool.input, { root: tool.input, left: MAX_PARTS }) ? "" : "?";
  const hasNone = !tool.input["additionalProperties"] && /^(?:unknown|Record<string, (?:unknown|never)>)$/.test(input);
  const args = hasNone && mark === "?" ? "" : `args${mark}: ${input}`;
  const call = `${tool.address}(${args}): `;
  const result = tool.output ?? tool.learned;
  const output = result ? toOneLine(result, "any") : "any";
  const typed = `${call}Promise<${args === `args: ${output}` ? "typeof args" : output}>`;
  if (typed.length <= MAX_SIGNATURE) return typed;
  return call.length + LONG_RESULT.length <= MAX_SIGNATURE ? `${call}${LONG_RESULT}` : undefined;
}

/** Returns what a call gives on one line, for errors about a field; nothing if it is too long or has named types. */
export function signResult(tool: Tool, maxLength: number): string | undefined {
  const result = tool.output ?? tool.learned;
  const text = result && `${tool.address} returns Promise<${toOneLine(result, "any")}>`;
  const [namespace = ""] = tool.address.split(".", 1);
  return text && text.length <= maxLength && !new RegExp(`\\b${namespace}\\.[A-Z]`).test(text) ? text : undefined;
}

function toOneLine(schema: JsonSchema, open: "unknown" | "any"): string {
  return schemaToType(schema, { commentLength: 0, open })
    .replaceAll(/;\n *\}/g, " }")
    .replaceAll(/\n */g, " ");
}

function toMethod(tool: Tool): string {
  return tool.address.slice(tool.address.indexOf(".") + 1);
}

/** Quotes `new`, which would declare a constructor. */
function toMethodName(tool: Tool): string {
  const name = toMethod(tool);
  return name === "new" ? quote(name) : name;
}

function toComment(tool: Tool, detail: "types" | "full"): string {
  const learned = toLearnedNote(tool);
  const labels = tool.labels ? [tool.labels.join(", ")] : [];
  if (detail === "types") {
    const summary = toCommentText(tool.summary, SUMMARY_LENGTH);
    return `  /** ${summary} (${[describeEffect(tool), ...labels, ...learned, ...toUncheckedFact(tool)].join("; ")}) */`;
  }
  const { connector, remoteName } = tool.origin;
  const lines = tool.description.split("\n").map((line) => toCommentText(line, DESCRIPTION_LENGTH));
  const origin = `Upstream name: ${quote(remoteName.slice(0, NAME_LENGTH))} of ${quote(connector)}`;
  const call = toCommentText(`Call: await ${tool.address}(${toNeededArguments(tool.input)})`, CALL_LENGTH);
  const carries = labels.map((text) => `Labels: ${text}.`);
  const facts = [`Effect: ${describeEffect(tool)}.`, ...carries, toCommentText(origin, 4 * NAME_LENGTH)].join(" ");
  const results = learned.map((note) => `The result type is ${note}.`);
  const all = [...lines, facts, ...toUncheckedNote(tool), ...results, call];
  const written = all.filter((line) => line !== "").map((line) => `   * ${line}`);
  return `  /**\n${written.join("\n")}\n   */`;
}

/** What is not checked before a call: the server decides about it. */
function toUncheckedNote(tool: Tool): readonly string[] {
  const { input, output } = tool;
  const parts = [...(hasDeadRef(input) ? ["arguments"] : []), ...(output && hasDeadRef(output) ? ["results"] : [])];
  const broken = `The ${parts.join(" and ")} are only checked in part: the schema has a reference that cannot be resolved.`;
  const facts = toUncheckedFact(tool).map((fact) => `The server decides about arguments that are ${fact}.`);
  return [...(parts.length === 0 ? [] : [broken]), ...facts];
}

/** Names of properties are untrusted, and escaped like all other text. */
function toUncheckedFact({ unchecked = [] }: Tool): readonly string[] {
  return unchecked.length === 0 ? [] : [toCommentText(`not checked by ${unchecked.join(", ")}`, CALL_LENGTH)];
}

/** The description of a learned shape states its origin. It is escaped like all other text. */
function toLearnedNote({ output, learned }: Tool): readonly string[] {
  const note = output ? undefined : learned?.["description"];
  return typeof note === "string" ? [toCommentText(note, NAME_LENGTH)] : [];
}

function toArgumentNames(input: JsonSchema): string {
  const properties = isJsonObject(input["properties"]) ? Object.keys(input["properties"]) : [];
  const required: readonly Json[] = Array.isArray(input["required"]) ? input["required"] : [];
  const shown = properties
    .slice(0, MAX_BRIEF_NAMES)
    .map((name) => `${toKey(name.slice(0, NAME_LENGTH))}${required.includes(name) ? "" : "?"}`);
  const more = properties.length > shown.length ? [`…${properties.length - shown.length} more`] : [];
  return shown.length === 0 ? "" : `{ ${[...shown, ...more].join(", ")} }`;
}

function toNeededArguments(input: JsonSchema): string {
  const required: readonly Json[] = Array.isArray(input["required"]) ? input["required"] : [];
  const names = required.filter((name) => typeof name === "string").slice(0, MAX_BRIEF_NAMES);
  return names.length === 0 ? "" : `{ ${names.map((name) => `${toKey(name)}: …`).join(", ")} }`;
}

/** True if the schema refuses an empty object. */
function needsArguments(schema: Json, walk: { readonly root: JsonSchema; left: number }): boolean {
  if (walk.left < 1) return true;
  walk.left -= 1;
  if (!isJsonObject(schema)) return schema === false;
  const needs = (part: Json): boolean => needsArguments(part, walk);
  const { required, allOf, anyOf, oneOf } = schema;
  const ref = refOf(schema);
  const target = ref === undefined ? undefined : resolveRef(walk.root, ref);
  return (
    (Array.isArray(required) && required.length > 0) ||
    (Array.isArray(allOf) && allOf.some(needs)) ||
    [anyOf, oneOf].some((choices) => Array.isArray(choices) && choices.length > 0 && choices.every(needs)) ||
    (target !== undefined && needs(target))
  );
}
