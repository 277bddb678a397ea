/**
 * The last stop of every text on its way to a model: terminal escapes, control, bidirectional and invisible characters
 * go, and HTML is escaped where the operator asked for it. `structuredContent` is data and stays exact.
 */

import type { CallToolResult } from "@modelcontextprotocol/server";

import { cleanText } from "../../text/index.ts";
import type { Gateway } from "../gateway.ts";

/** One text, harmless to show. Sizes were capped before. */
export function showText(text: string, { escapeHtml }: Pick<Gateway, "escapeHtml">): string {
  const clean = cleanText(text, { maxBytes: Number.MAX_SAFE_INTEGER });
  return escapeHtml ? toHtmlText(clean) : clean;
}

/** The texts of a result, one by one. */
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

/** Harmless between tags and inside quoted attributes. */
function toHtmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
