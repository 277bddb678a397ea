/**
 * The last step of every text for a model: removes terminal escapes, control, bidirectional and invisible characters,
 * and escapes HTML if the operator enabled it. `structuredContent` is data and stays exact.
 */

import type { CallToolResult } from "@modelcontextprotocol/server";

import { cleanText } from "../../text/index.ts";
import type { Gateway } from "../gateway.ts";

/** Makes one text harmless. Sizes were limited before. */
export function showText(text: string, { escapeHtml }: Pick<Gateway, "escapeHtml">): string {
  const clean = cleanText(text, { maxBytes: Number.MAX_SAFE_INTEGER });
  return escapeHtml ? toHtmlText(clean) : clean;
}

/** Cleans the texts of a result, one by one. */
export function showResult(result: CallToolResult, gateway: Pick<Gateway, "escapeHtml">): CallToolResult {
  const content = result.content.map((block) =>
    block.type === "text" ? { ...block, text: showText(block.text, gateway) } : block,
  );
  return { ...result, content };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Safe between tags and inside quoted attributes. */
function toHtmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
