/** Answers a call of one upstream tool: an execution of a single call, through the same bridge as any program's. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { Called, Media } from "../../execution/index.ts";
import type { McpDoor, ToolRequest } from "./call-tool.ts";
import { hasObjectOutput, namePlainTools } from "./plain-tools.ts";
import { renderError, renderExecution } from "./render-execution.ts";
import { toBlock } from "./render-media.ts";

/** Our own tools have no underscore; whether the tool exists is another question. */
export function isPlainName(name: string): boolean {
  return name.includes("_");
}

/** Rejects for a tool that does not exist; a call that fails or is refused is a result with `isError`. */
export async function callPlainTool(door: McpDoor, request: ToolRequest): Promise<CallToolResult> {
  const { gateway, principal } = door;
  const tool = namePlainTools(await gateway.takeSnapshot(principal)).get(request.name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${request.name}`);
  const calls = [{ address: tool.address, args: parseObject(request.rawArguments) }];
  const { signal, onEvent } = request;
  const called = await gateway.callTools({ principal, calls, signal, ...(onEvent && { onEvent }) });
  const value = valueOf(called);
  if (value === undefined) return toFailure(called);
  const media = await gateway.findMedia(principal, value);
  const isWhole = called.result.truncated === undefined || hasObjectOutput(tool.output);
  if (!isWhole) return { content: [{ type: "text", text: renderExecution(called.result) }, ...media.map(toBlock)] };
  return { content: toContent(value, media), ...(isJsonObject(value) && { structuredContent: { ...value } }) };
}

/** Arguments are checked against the tool's schema in the bridge. */
function parseObject(raw: unknown): JsonObject {
  if (raw === undefined || raw === null) return {};
  if (!isJsonObject(raw)) throw new GloveboxError("REQUEST_INVALID", "A tool takes one object of named arguments");
  return raw;
}

/** The whole answer, also where the record of the execution has a sample only. */
function valueOf({ replies: [reply] }: Called): Json | undefined {
  return reply?.ok ? parseValue(reply.json) : undefined;
}

function parseValue(json: string): Json {
  return JSON.parse(json) as Json; // the bridge made it
}

function toFailure({ result }: Called): CallToolResult {
  const text = result.error ? renderError(result.error) : renderExecution(result);
  return { content: [{ type: "text", text }], isError: true };
}

/** A server that answered in blocks is answered on in blocks; files come after the text in which they stand. */
function toContent(value: Json, media: readonly Media[]): ContentBlock[] {
  const texts = Array.isArray(value) ? value.map(textOf) : [];
  const blocks = texts.filter((text) => text !== undefined);
  const isBlocks = texts.length > 0 && blocks.length === texts.length;
  if (isBlocks) return [...blocks.flat(), ...media.map(toBlock)];
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return [{ type: "text", text }, ...media.map(toBlock)];
}

/** The text of a text block, nothing for a file's placeholder, `undefined` for what is no block. */
function textOf(item: Json): ContentBlock[] | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, text, handle } = item;
  if (type === "text" && typeof text === "string") return [{ type: "text", text }];
  return typeof handle === "string" ? [] : undefined;
}
