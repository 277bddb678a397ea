/**
 * Upstream tools as MCP tools, for clients that call them directly: `<namespace>_<tool>`. Neither part can contain an
 * underscore, so names never collide, neither with each other nor with Glovebox's own tools.
 */

import { createHash } from "node:crypto";

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallToolResult, ContentBlock, Tool as McpTool } from "@modelcontextprotocol/server";

import { GloveboxError, defined, depthOf, isJsonObject, parseJson } from "../../domain/index.ts";
import type { CatalogSnapshot, Json, JsonObject, JsonSchema, Tool } from "../../domain/index.ts";
import { MOST_DEPTH } from "../parse-request.ts";
import type { McpDoor } from "../gateway.ts";
import type { ToolRequest } from "./call-tool.ts";
import { describeMissing, toBlock } from "./files.ts";
import { MAX_TEXT_BYTES, renderError, renderExecution, renderJson, shorten, toText } from "./render.ts";

/** The length of a tool name that MCP clients and models accept. */
const MAX_NAME = 64;
const DIGITS = 8;
/** The size of the text beside structured content that is too large for a text. */
const SHORT_TEXT_BYTES = 2_000;
/** Occurs only in shortened names. */
const CUT = "__";

/** Served by the MCP methods for resources and prompts instead. */
export const PASSED_THROUGH = ["resources/list", "resources/read", "prompts/list", "prompts/get"] as const;
const HIDDEN: ReadonlySet<string> = new Set(PASSED_THROUGH);

/** A longer name is cut, followed by two underscores and the first digits of the address's SHA-256. */
export function toPlainName(address: string): string {
  const name = address.replace(".", "_");
  if (name.length <= MAX_NAME) return name;
  const digest = createHash("sha256").update(address).digest("hex").slice(0, DIGITS);
  return name.slice(0, MAX_NAME - CUT.length - DIGITS) + CUT + digest;
}

const named = new WeakMap<CatalogSnapshot, ReadonlyMap<string, Tool>>();

/** By name, sorted by name. Cached for each snapshot. */
export function namePlainTools(snapshot: CatalogSnapshot): ReadonlyMap<string, Tool> {
  const known = named.get(snapshot);
  if (known) return known;
  const shown = [...snapshot.tools.values()].filter(({ origin }) => !HIDDEN.has(origin.remoteName));
  const entries = shown.map((tool) => [toPlainName(tool.address), tool] as const);
  const made = new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  named.set(snapshot, made);
  return made;
}

/** The definition for a client. An output schema is included only if it describes an object, as MCP requires. */
export function definePlainTool(name: string, tool: Tool): McpTool {
  const { description, input, output, effect, origin, summary } = tool;
  return {
    name,
    // Some clients refuse a tool without a description.
    description: [description, summary].find((text) => text !== "") ?? `A tool of ${origin.connector}`,
    inputSchema: toObjectSchema(input),
    ...defined({ outputSchema: hasObjectOutput(output) ? toObjectSchema(output) : undefined }),
    annotations: { readOnlyHint: effect === "read", destructiveHint: effect === "destroy" || effect === "unknown" },
  };
}

/** True if a result of this tool must be structured content. */
function hasObjectOutput(output: JsonSchema | null): output is JsonSchema {
  return isJsonObject(output) && output["type"] === "object";
}

function toObjectSchema(schema: JsonSchema): McpTool["inputSchema"] {
  return { ...schema, type: "object" };
}

/** Tools of Glovebox have no underscore. Does not check whether the tool exists. */
export function isPlainName(name: string): boolean {
  return name.includes("_");
}

/**
 * Makes one call through the same bridge as a program. Rejects for a tool that does not exist; a call that fails or is
 * refused is a result with `isError`.
 */
export async function callPlainTool({ gateway, principal }: McpDoor, request: ToolRequest): Promise<CallToolResult> {
  const { name, rawArguments, signal, onEvent, trace } = request;
  const snapshot = await gateway.takeSnapshot(principal, [name.slice(0, name.indexOf("_"))]);
  // Also finds a tool that policy hides: policy refuses the call, with a record.
  const hidden = [...(snapshot.hidden?.values() ?? [])];
  const tool = namePlainTools(snapshot).get(name) ?? hidden.find(({ address }) => toPlainName(address) === name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
  const args = parsePlainArguments(rawArguments);
  const calls = [{ address: tool.address, args }];
  const { result, replies } = await gateway.callTools({ principal, calls, signal, ...defined({ onEvent, trace }) });
  const [reply] = replies;
  // The whole value, also when the stored result has only a sample.
  const value = reply?.ok ? parseJson(reply.json) : undefined;
  if (value === undefined) {
    return { ...toText(result.error ? renderError(result.error) : renderExecution(result)), isError: true };
  }
  const media = await gateway.findMedia(principal, value);
  const files = [...media.map(toBlock), ...describeMissing(value, media).map(toTextBlock)];
  const sample = result.truncated && renderExecution(result, { hasPrograms: gateway.expose === "both" });
  if (sample !== undefined && !hasObjectOutput(tool.output)) return { content: [toTextBlock(sample), ...files] };
  if (!isJsonObject(value)) return { content: [...toTexts(value), ...files] };
  return { content: [toTextBlock(sample ?? toShortText(value)), ...files], structuredContent: { ...value } };
}

/** The structured content is complete, so a large value is not sent twice. */
function toShortText(value: JsonObject): string {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  return shorten(text, SHORT_TEXT_BYTES, "structuredContent has all of it");
}

function toTextBlock(text: string): ContentBlock {
  return { type: "text", text };
}

/** Text blocks of a server stay separate blocks; files follow the text. */
function toTexts(value: Json): ContentBlock[] {
  const texts = Array.isArray(value) ? value.map(textOf) : [];
  const blocks = texts.filter((text) => text !== undefined);
  if (texts.length > 0 && blocks.length === texts.length) return blocks.flat();
  return [toTextBlock(renderJson(value))];
}

/** The text of a text block, an empty array for a file placeholder, `undefined` for any other value. */
function textOf(item: Json): ContentBlock[] | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, text, handle } = item;
  if (type === "text" && typeof text === "string") return [toTextBlock(text)];
  return typeof handle === "string" ? [] : undefined;
}

/** The bridge checks the arguments against the limits and the tool's schema. */
export function parsePlainArguments(raw: unknown): JsonObject {
  const args = raw ?? {};
  if (!isJsonObject(args)) throw new GloveboxError("REQUEST_INVALID", "A tool takes one object of named arguments");
  if (depthOf(args, MOST_DEPTH) <= MOST_DEPTH) return args;
  throw new GloveboxError("REQUEST_INVALID", `The arguments nest deeper than ${MOST_DEPTH} levels`, {
    hint: "Send a flatter value",
  });
}
