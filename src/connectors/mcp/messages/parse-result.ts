/**
 * Turns the result of `tools/call` (MCP 2025-11-25 and 2026-07-28, server/tools) into the one JSON value that a program
 * receives:
 *
 * 1. `structuredContent`, when it is there and not null, exactly as it came;
 * 2. one text block that is the text of a JSON object or array: that object or array;
 * 3. one text block: its string;
 * 4. no block: null;
 * 5. anything else: the array of blocks, with placeholders where binary data was.
 */

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";
import type { RemoteResult } from "../../connector.ts";
import { Attachments, invalid, parseBlock } from "./content.ts";

const MAX_ERROR_BYTES = 2048;

/**
 * Throws `UPSTREAM_FAILED` with the text of the blocks for a result with `isError`, so that a program gets an
 * exception. Throws `UPSTREAM_RESULT_INVALID` for a result that violates the protocol. Drops binary blocks beside
 * structured content: the value has no place for them.
 */
export function parseResult(rawResult: unknown, clean: TextCleaner): RemoteResult {
  if (!isJsonObject(rawResult)) throw invalid("it is not an object");
  const { content, structuredContent, isError } = rawResult;
  if (isError !== undefined && typeof isError !== "boolean") throw invalid("isError is not a boolean");
  if (content === undefined && structuredContent === undefined) throw invalid("it has no content");
  const attachments = new Attachments();
  const blocks = parseBlocks(content ?? [], attachments);
  if (isError) throw new GloveboxError("UPSTREAM_FAILED", toErrorText(blocks, clean), { hint: FAILED_HINT });
  if (structuredContent !== undefined && structuredContent !== null) {
    return { value: structuredContent, attachments: [] };
  }
  return { value: blocksToValue(blocks), attachments: attachments.list() };
}

const FAILED_HINT = "The tool itself reported this; check the arguments against its description";

function blocksToValue(blocks: readonly JsonObject[]): Json {
  const [first] = blocks;
  if (!first) return null;
  const text = blocks.length === 1 ? textOf(first) : undefined;
  return text === undefined ? blocks : (parseJsonText(text) ?? text);
}

function textOf({ type, text }: JsonObject): string | undefined {
  return type === "text" && typeof text === "string" ? text : undefined;
}

/** Only objects and arrays: a text such as `42` or `true` stays a string. */
function parseJsonText(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function toErrorText(blocks: readonly JsonObject[], clean: TextCleaner): string {
  const text = blocks.flatMap((block) => textOf(block) ?? []).join("\n");
  return toShownText(text, clean, MAX_ERROR_BYTES).trim() || "The tool reported an error without a message";
}

function parseBlocks(rawContent: Json, attachments: Attachments): readonly JsonObject[] {
  if (!Array.isArray(rawContent)) throw invalid("content is not an array");
  return rawContent.map((raw: Json, index) => parseBlock(raw, [index], attachments));
}
