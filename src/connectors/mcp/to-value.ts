/**
 * Turns the result of `tools/call` (MCP 2025-11-25, server/tools) into the one JSON value that a program receives:
 *
 * 1. `structuredContent`, when it is there and not null;
 * 2. one text block that is the text of a JSON object or array: that object or array;
 * 3. one text block: its string;
 * 4. no block: null;
 * 5. anything else: the array of blocks, each reduced to `{type, text}`, `{type, mimeType, data}`, or, for resources,
 *    as it came.
 */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { toShownText } from "../cap-text.ts";
import type { Clean } from "../cap-text.ts";

const MAX_ERROR_BYTES = 2048;

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly mimeType: string; readonly data: string }
  | { readonly type: "resource" | "resource_link"; readonly raw: JsonObject };

/**
 * A result with `isError` throws `UPSTREAM_FAILED` with the text of its blocks, because a program should meet a failed
 * call as an exception. A result that is none by the protocol throws `UPSTREAM_RESULT_INVALID`.
 */
export function toValue(rawResult: unknown, clean: Clean): Json {
  if (!isJsonObject(rawResult)) throw invalid("it is not an object");
  const { content, structuredContent, isError } = rawResult;
  if (isError !== undefined && typeof isError !== "boolean") throw invalid("isError is not a boolean");
  if (content === undefined && structuredContent === undefined) throw invalid("it has no content");
  const blocks = parseBlocks(content ?? []);
  if (isError) throw new GloveboxError("UPSTREAM_FAILED", toErrorText(blocks, clean), { hint: FAILED_HINT });
  if (structuredContent !== undefined && structuredContent !== null) return structuredContent;
  return blocksToValue(blocks);
}

const FAILED_HINT = "The tool itself reported this; check the arguments against its description";

function blocksToValue(blocks: readonly Block[]): Json {
  const [first] = blocks;
  if (!first) return null;
  if (blocks.length === 1 && first.type === "text") return parseJsonText(first.text) ?? first.text;
  return blocks.map((block) => ("raw" in block ? block.raw : { ...block }));
}

/** Only objects and arrays: a text such as `42` or `true` stays the string that the tool wrote. */
function parseJsonText(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function toErrorText(blocks: readonly Block[], clean: Clean): string {
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return toShownText(text, clean, MAX_ERROR_BYTES).trim() || "The tool reported an error without a text";
}

function parseBlocks(rawContent: Json): readonly Block[] {
  if (!Array.isArray(rawContent)) throw invalid("content is not an array");
  return rawContent.map(parseBlock);
}

function parseBlock(raw: Json): Block {
  if (!isJsonObject(raw)) throw invalid("a content block is not an object");
  const { type, text, data, mimeType } = raw;
  if (type === "text" && typeof text === "string") return { type, text };
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string") {
    return { type, mimeType, data };
  }
  if (type === "resource" && isJsonObject(raw["resource"])) return { type, raw };
  if (type === "resource_link" && typeof raw["uri"] === "string") return { type, raw };
  throw invalid("a content block has a wrong type or lacks a field");
}

function invalid(why: string): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `The server's answer is not a tool result: ${why}`, {
    hint: "The server breaks the protocol; update it or report this to its authors",
  });
}
