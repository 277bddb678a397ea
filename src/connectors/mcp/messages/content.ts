/**
 * Content blocks of MCP (2025-11-25 and 2026-07-28): text, image, audio, resource_link, embedded resource. Binary data
 * is moved to the attachments and a placeholder is left, so that a program never holds megabytes of base64.
 */

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Attachment, Json, JsonObject } from "../../../domain/index.ts";

/** The position of a value within its result. */
export type Path = readonly (string | number)[];

/** Takes binary data out of a result and records the position of its placeholder. */
export class Attachments {
  readonly #taken: Attachment[] = [];

  /** Refuses data that is not base64: a later decoder would return something else than the server sent. */
  take(kind: Attachment["kind"], data: { readonly base64: string; readonly mimeType: Json | undefined }, path: Path) {
    const { base64 } = data;
    const bytes = measureBase64(base64);
    if (bytes === undefined) throw invalid(`the data of an ${kind} is not base64`);
    const mimeType = toMimeType(data.mimeType);
    this.#taken.push({ path, kind, mimeType, base64 });
    return { type: kind, mimeType, bytes };
  }

  list(): readonly Attachment[] {
    return this.#taken;
  }
}

/** One block in the form that a program sees. An unknown type or a missing field refuses the whole result. */
export function parseBlock(raw: Json | undefined, path: Path, attachments: Attachments): JsonObject {
  if (!isJsonObject(raw)) throw invalid("a content block is not an object");
  const { type, text, data, mimeType } = raw;
  if (type === "text" && typeof text === "string") return { type, text };
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string") {
    return attachments.take(type, { base64: data, mimeType }, path);
  }
  if (type === "resource" && isJsonObject(raw["resource"])) {
    return { ...raw, resource: parseResource(raw["resource"], [...path, "resource"], attachments) };
  }
  if (type === "resource_link" && typeof raw["uri"] === "string") return raw;
  throw invalid("a content block has an unknown type or lacks a field");
}

/** The contents of one resource: its text as it is, or a placeholder for its blob. */
export function parseResource(raw: JsonObject, path: Path, attachments: Attachments): JsonObject {
  const { uri, text, blob, mimeType } = raw;
  if (typeof uri !== "string") throw invalid("a resource has no uri");
  if (typeof blob === "string") {
    return { ...raw, blob: attachments.take("blob", { base64: blob, mimeType }, [...path, "blob"]) };
  }
  if (typeof text === "string") return raw;
  throw invalid("a resource has neither text nor blob");
}

const UNKNOWN_TYPE = "application/octet-stream";
const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(; ?[\w.+-]{1,50}="?[\w.+-]{1,50}"?)?$/;

/** Shown to models, so anything that does not look like a media type is replaced. */
function toMimeType(raw: Json | undefined): string {
  return typeof raw === "string" && MIME_TYPE.test(raw) ? raw : UNKNOWN_TYPE;
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
