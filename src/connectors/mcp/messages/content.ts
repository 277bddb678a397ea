/**
 * Content blocks of MCP (2025-11-25 and 2026-07-28): text, image, audio, resource_link, embedded resource. Binary data
 * is moved to the attachments and a placeholder is left, so that a program never holds megabytes of base64.
 */

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Attachment, Json, JsonObject } from "../../../domain/index.ts";

/** One block in the form that a program sees. An unknown type or a missing field refuses the whole result. */
export function parseBlock(raw: Json | undefined, path: Attachment["path"], attachments: Attachment[]): JsonObject {
  if (!isJsonObject(raw)) throw invalid("a content block is not an object");
  const { type, text, data, mimeType } = raw;
  if (type === "text" && typeof text === "string") return { type, text };
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string") {
    return take({ kind: type, base64: data, path, mimeType: toMimeType(mimeType) }, attachments);
  }
  if (type === "resource" && isJsonObject(raw["resource"])) {
    return { ...raw, resource: parseResource(raw["resource"], [...path, "resource"], attachments) };
  }
  if (type === "resource_link" && typeof raw["uri"] === "string") return raw;
  throw invalid("a content block has an unknown type or lacks a field");
}

/** The contents of one resource: its text as it is, or a placeholder for its blob. */
export function parseResource(raw: JsonObject, path: Attachment["path"], attachments: Attachment[]): JsonObject {
  const { uri, text, blob: base64, mimeType } = raw;
  if (typeof uri !== "string") throw invalid("a resource has no uri");
  if (typeof base64 === "string") {
    const blob = { kind: "blob", base64, path: [...path, "blob"], mimeType: toMimeType(mimeType) } as const;
    return { ...raw, blob: take(blob, attachments) };
  }
  if (typeof text === "string") return raw;
  throw invalid("a resource has neither text nor blob");
}

/** Returns the placeholder. Refuses data that is not base64: a decoder would return something else than was sent. */
function take(attachment: Attachment, attachments: Attachment[]): JsonObject {
  const { kind, mimeType, base64 } = attachment;
  const bytes = measureBase64(base64);
  if (bytes === undefined) throw invalid(`the data of an ${kind} is not base64`);
  attachments.push(attachment);
  return { type: kind, mimeType, bytes };
}

const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(; ?[\w.+-]{1,50}="?[\w.+-]{1,50}"?)?$/;

/** Shown to models, so anything that does not look like a media type is replaced. */
function toMimeType(raw: Json | undefined): string {
  return typeof raw === "string" && MIME_TYPE.test(raw) ? raw : "application/octet-stream";
}

/** The decoded size, or `undefined` for what is not padded base64 (RFC 4648, section 4). Nothing is decoded. */
function measureBase64(text: string): number | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // A search for the first wrong character needs no backtracking, also for a long string.
  if (/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding))) return undefined;
  return (text.length / 4) * 3 - padding;
}

/** The error for a refused result. */
export function invalid(why: string): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `The server's answer is invalid: ${why}`, {
    hint: "The server violates the protocol; update it or report this to its authors",
  });
}
