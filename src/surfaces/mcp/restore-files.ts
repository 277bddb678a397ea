/** Puts files back into the places from which the host took them, for clients that asked for exactly those. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { McpDoor } from "./call-tool.ts";

/** What is too large or expired stays a placeholder with its handle. */
export async function restoreFiles(
  { gateway, principal }: McpDoor,
  entries: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const media = await gateway.findMedia(principal, entries);
  const files = new Map<string, string>(media.map(({ handle, base64 }) => [handle, base64]));
  if (files.size === 0) return entries;
  return entries.flatMap((entry) => {
    const restored = restore(entry, files);
    return isJsonObject(restored) ? [restored] : [];
  });
}

/** The bridge bounded the depth. */
function restore(value: Json, files: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => restore(item, files));
  if (!isJsonObject(value)) return value;
  const blob = findBlob(value, files);
  if (blob !== undefined) return { ...value, blob };
  const { handle, bytes, ...rest } = value;
  const base64 = typeof handle === "string" ? files.get(handle) : undefined;
  if (base64 === undefined) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restore(item, files)]));
  }
  const { type, ...resource } = rest;
  return type === "image" || type === "audio" ? { ...rest, data: base64 } : { ...resource, blob: base64 };
}

/** A resource's bytes stand under its `blob`, and a client expects them there as text. */
function findBlob({ blob }: JsonObject, files: ReadonlyMap<string, string>): string | undefined {
  const handle = blob !== undefined && isJsonObject(blob) ? blob["handle"] : undefined;
  return typeof handle === "string" ? files.get(handle) : undefined;
}
