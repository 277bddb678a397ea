/** Inserts files into the places from which the host removed them, for clients that asked for these files. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import { describeFile, parsePlaceholder } from "./missing-files.ts";
import type { Placeholder } from "./missing-files.ts";

/** A file that is too large, too many or expired becomes a text about it, because a placeholder is not valid MCP content. */
export async function restoreFiles(
  { gateway, principal }: McpDoor,
  entries: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const media = await gateway.findMedia(principal, entries);
  const files = new Map<string, string>(media.map(({ handle, base64 }) => [handle, base64]));
  return entries.flatMap((entry) => {
    const restored = restore(entry, files);
    return isJsonObject(restored) ? [restored] : [];
  });
}

/** The bridge limits the depth. */
function restore(value: Json, files: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => restore(item, files));
  if (!isJsonObject(value)) return value;
  const inside = parsePlaceholder(value["blob"]);
  if (inside) return restoreResource(value, inside, files);
  const itself = parsePlaceholder(value);
  if (itself) return restoreBlock(value, itself, files);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restore(item, files)]));
}

/** Clients expect the bytes of a resource in `blob`, as base64. */
function restoreResource(value: JsonObject, file: Placeholder, files: ReadonlyMap<string, string>): JsonObject {
  const { blob: _, ...resource } = value;
  const base64 = files.get(file.handle);
  if (base64 !== undefined) return { ...resource, blob: base64 };
  return { ...resource, mimeType: "text/plain", text: describeFile(file) };
}

/** Images and audio are blocks; every other file is a resource whose fields are beside its placeholder. */
function restoreBlock(value: JsonObject, file: Placeholder, files: ReadonlyMap<string, string>): JsonObject {
  const { handle: _, bytes: __, type = "", ...rest } = value;
  const isBlock = type === "image" || type === "audio";
  const base64 = files.get(file.handle);
  if (base64 !== undefined) return isBlock ? { type, ...rest, data: base64 } : { ...rest, blob: base64 };
  const text = describeFile(file);
  return isBlock ? { type: "text", text } : { ...rest, mimeType: "text/plain", text };
}
