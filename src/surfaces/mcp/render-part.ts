/** A part of a kept result, limited in size for a model. */

import type { CallToolResult } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { capText } from "./cap-text.ts";
import { toBlock } from "./render-media.ts";
import { MAX_TEXT_BYTES } from "./render-execution.ts";

type KeptPart = Awaited<ReturnType<Gateway["readResult"]>>;

/** A larger part is not sent: a program can read it, or the client asks for less. */
const MAX_PART_BYTES = 1024 * 1024;
const NOTE_BYTES = 400;

/** Omits `value` from the structured content if it is too large; the text mentions it. */
export function renderPart({ value, total, next, summary }: KeptPart): CallToolResult {
  const { id: handle, mimeType, bytes, shape } = summary;
  const page = { ...(total !== undefined && { total }), ...(next !== undefined && { next }) };
  const head = { handle, mimeType, bytes, ...page };
  const base64 = shape === "" ? fileOf(value) : undefined;
  if (base64 !== undefined) {
    const whole = next === undefined && Buffer.byteLength(base64, "base64") === bytes;
    const content = [{ type: "text" as const, text: describePart(head) }];
    if (!whole) return { content, structuredContent: { ...head, value } };
    return { content: [...content, toBlock({ handle, mimeType, base64 })], structuredContent: head };
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const note = describePart(head);
  const content = [{ type: "text" as const, text: `${capText(text, MAX_TEXT_BYTES - NOTE_BYTES)}\n\n${note}` }];
  const isLarge = Buffer.byteLength(text) > MAX_PART_BYTES;
  return { content, structuredContent: { ...head, ...(isLarge ? { shape } : { value }) } };
}

function fileOf(value: Json): string | undefined {
  const base64 = isJsonObject(value) ? value["base64"] : undefined;
  return typeof base64 === "string" ? base64 : undefined;
}

type Head = Pick<KeptPart["summary"], "mimeType" | "bytes"> & {
  readonly handle: string;
  readonly total?: number;
  readonly next?: number;
};

function describePart({ handle, mimeType, bytes, total, next }: Head): string {
  const parts = total === undefined ? "" : `; ${total} in all${next === undefined ? "" : `, more at offset ${next}`}`;
  return `[${handle}: ${mimeType.slice(0, 100)}, ${bytes} bytes${parts}]`;
}
