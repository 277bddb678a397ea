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
import type { Attachment, Json, JsonObject } from "../../../domain/index.ts";
import { readJson } from "../../../text/index.ts";
import type { SlicedWork } from "../../../timing/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";
import type { RemoteResult } from "../../connector.ts";
import { invalid, parseBlock } from "./content.ts";

const MAX_ERROR_BYTES = 2048;

/**
 * Throws `UPSTREAM_FAILED` with the text of the blocks for a result with `isError`, so that a program gets an
 * exception. Throws `UPSTREAM_RESULT_INVALID` for a result that violates the protocol. Drops binary blocks beside
 * structured content: the value has no place for them.
 */
export function* parseResult(rawResult: unknown, clean: TextCleaner): SlicedWork<RemoteResult> {
  if (!isJsonObject(rawResult)) throw invalid("it is not an object");
  const { content, structuredContent, isError } = rawResult;
  if (isError !== undefined && typeof isError !== "boolean") throw invalid("isError is not a boolean");
  if (content === undefined && structuredContent === undefined) throw invalid("it has no content");
  const rawBlocks = content ?? [];
  if (!Array.isArray(rawBlocks)) throw invalid("content is not an array");
  const attachments: Attachment[] = [];
  const blocks = rawBlocks.map((raw: Json, index) => parseBlock(raw, [index], attachments));
  if (isError) {
    const hint = "The tool itself reported this; check the arguments against its description";
    throw new GloveboxError("UPSTREAM_FAILED", toErrorText(blocks, clean), { hint });
  }
  const isStructured = structuredContent !== undefined && structuredContent !== null;
  if (isStructured) return { value: structuredContent, attachments: [] };
  return { value: yield* blocksToValue(blocks), attachments };
}

/** Only the text of an object or an array is parsed: a text such as `42` or `true` stays a string. */
function* blocksToValue(blocks: readonly JsonObject[]): SlicedWork<Json> {
  const [first] = blocks;
  if (!first) return null;
  const text = blocks.length === 1 ? textOf(first) : undefined;
  if (text === undefined) return blocks;
  return (/^\s*[{[]/.test(text) ? yield* readJson(text) : undefined) ?? text;
}

function textOf({ type, text }: JsonObject): string | undefined {
  return type === "text" && typeof text === "string" ? text : undefined;
}

function toErrorText(blocks: readonly JsonObject[], clean: TextCleaner): string {
  const text = blocks.flatMap((block) => textOf(block) ?? []).join("\n");
  return toShownText(text, clean, MAX_ERROR_BYTES).trim() || "The tool reported an error without a message";
}
