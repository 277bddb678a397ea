/** Puts files back into the places from which the host took them, for clients that asked for exactly those. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import type { McpDoor } from "./call-tool.ts";
import { describeFile, parsePlaceholder } from "./missing-files.ts";
import type { Placeholder } from "./missing-files.ts";

/** What is too large, one of too many or expired becomes a text that says so: a placeholder is no content of MCP. */
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

/** The bridge bounded the depth. */
function restore(value: Json, files: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => restore(item, files));
  if (!isJsonObject(value)) return value;
  const inside = parsePlaceholder(value["blob"]);
  if (inside) return restoreResource(value, inside, files);
  const itself = parsePlaceholder(value);
  if (itself) return restoreBlock(value, itself, files);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restore(item, files)]));
}

/** A resource's bytes stand under its `blob`, and a client expects them there as text. */
function restoreResource(value: JsonObject, file: Placeholder, files: ReadonlyMap<string, string>): JsonObject {
  const { blob: _, ...resource } = value;
  const base64 = files.get(file.handle);
  if (base64 !== undefined) return { ...resource, blob: base64 };
  return { ...resource, mimeType: "text/plain", text: describeFile(file) };
}

/** A picture or a sound stands for itself; anything else is a resource whose fields stand beside its placeholder. */
function restoreBlock(value: JsonObject, file: Placeholder, files: ReadonlyMap<string, string>): JsonObject {
  const { handle: _, bytes: __, type = "", ...rest } = value;
  const isBlock = type === "image" || type === "audio";
  const base64 = files.get(file.handle);
  if (base64 !== undefined) return isBlock ? { type, ...rest, data: base64 } : { ...rest, blob: base64 };
  const text = describeFile(file);
  return isBlock ? { type: "text", text } : { ...rest, mimeType: "text/plain", text };
}
