/** Answers a call of one upstream tool: an execution of a single call, through the same bridge as a program. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { Gateway, McpDoor } from "../gateway.ts";
import type { ToolRequest } from "./call-tool.ts";
import { capText } from "./cap-text.ts";
import { describeMissing } from "./missing-files.ts";
import { findPlainTool, hasObjectOutput } from "./plain-tools.ts";
import { MAX_TEXT_BYTES, renderError, renderExecution } from "./render-execution.ts";
import { toBlock } from "./render-media.ts";

/** The size of the text beside structured content that is too large for a text. */
const SHORT_TEXT_BYTES = 2_000;

/** Tools of Glovebox have no underscore. Does not check whether the tool exists. */
export function isPlainName(name: string): boolean {
  return name.includes("_");
}

/** Rejects for a tool that does not exist; a call that fails or is refused is a result with `isError`. */
export async function callPlainTool(door: McpDoor, request: ToolRequest): Promise<CallToolResult> {
  const { gateway, principal } = door;
  const tool = findPlainTool(await gateway.takeSnapshot(principal), request.name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${request.name}`);
  const calls = [{ address: tool.address, args: parseObject(request.rawArguments) }];
  const { signal, onEvent, trace } = request;
  const watched = { ...(onEvent && { onEvent }), ...(trace && { trace }) };
  const called = await gateway.callTools({ principal, calls, signal, ...watched });
  const value = valueOf(called);
  if (value === undefined) return toFailure(called);
  const media = await gateway.findMedia(principal, value);
  const notes = describeMissing(value, media).map(toTextBlock);
  const files = [...media.map(toBlock), ...notes];
  const { result } = called;
  const sample = result.truncated && renderExecution(result, { hasPrograms: gateway.expose === "both" });
  const isWhole = sample === undefined || hasObjectOutput(tool.output);
  if (!isWhole) return { content: [toTextBlock(sample), ...files] };
  if (!isJsonObject(value)) return { content: [...toTexts(value), ...files] };
  return { content: [toTextBlock(sample ?? toShortText(value)), ...files], structuredContent: { ...value } };
}

/** The structured content is complete, so a large value is not sent twice. */
function toShortText(value: JsonObject): string {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  return capText(text, SHORT_TEXT_BYTES, "structuredContent has all of it");
}

function toTextBlock(text: string): ContentBlock {
  return { type: "text", text };
}

/** The bridge checks the arguments against the tool's schema. */
function parseObject(raw: unknown): JsonObject {
  if (raw === undefined || raw === null) return {};
  if (!isJsonObject(raw)) throw new GloveboxError("REQUEST_INVALID", "A tool takes one object of named arguments");
  return raw;
}

/** The whole value, also when the stored result has only a sample. */
function valueOf({ replies: [reply] }: Awaited<ReturnType<Gateway["callTools"]>>): Json | undefined {
  return reply?.ok ? parseJson(reply.json) : undefined;
}

/** Any JSON is a value. */
function parseJson(json: string): Json {
  const value: Json = JSON.parse(json);
  return value;
}

function toFailure({ result }: Awaited<ReturnType<Gateway["callTools"]>>): CallToolResult {
  const text = result.error ? renderError(result.error) : renderExecution(result);
  return { content: [{ type: "text", text }], isError: true };
}

/** Text blocks of a server stay separate blocks; files follow the text. */
function toTexts(value: Json): ContentBlock[] {
  const texts = Array.isArray(value) ? value.map(textOf) : [];
  const blocks = texts.filter((text) => text !== undefined);
  if (texts.length > 0 && blocks.length === texts.length) return blocks.flat();
  return [toTextBlock(typeof value === "string" ? value : JSON.stringify(value))];
}

/** The text of a text block, an empty array for a file placeholder, `undefined` for any other value. */
function textOf(item: Json): ContentBlock[] | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, text, handle } = item;
  if (type === "text" && typeof text === "string") return [toTextBlock(text)];
  return typeof handle === "string" ? [] : undefined;
}
