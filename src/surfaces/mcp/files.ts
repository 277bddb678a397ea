/** Files of values: notes about those that are not in an answer, and MCP content with their bytes. */

import type { ContentBlock } from "@modelcontextprotocol/server";

import { isJsonObject, parseResultId } from "../../domain/index.ts";
import type { Json, JsonObject, ResultId } from "../../domain/index.ts";
import type { Media } from "../../execution/index.ts";
import type { McpDoor } from "../gateway.ts";

/** Replaces a file in a value. */
interface Placeholder {
  readonly handle: ResultId;
  readonly mimeType: string;
  readonly bytes: number;
}

const MAX_VISITED = 10_000;
const MAX_NOTES = 20;

/** The address of a kept result as a resource; no upstream can have this namespace. */
function toKeptUri(handle: string): string {
  return `glovebox://glovebox/${handle}`;
}

/** Images and audio have their own block types; every other file is an embedded resource with the handle's address. */
export function toBlock({ handle, mimeType, base64 }: Omit<Media, "labels">): ContentBlock {
  if (mimeType.startsWith("image/")) return { type: "image", mimeType, data: base64 };
  if (mimeType.startsWith("audio/")) return { type: "audio", mimeType, data: base64 };
  return { type: "resource", resource: { uri: toKeptUri(handle), mimeType, blob: base64 } };
}

/** One sentence for each file of the value that is not in `media`; the last one counts the rest. */
export function describeMissing(value: Json, media: readonly Media[]): readonly string[] {
  const sent = new Set<string>(media.map(({ handle }) => handle));
  const missing = findPlaceholders(value).filter(({ handle }) => !sent.has(handle));
  const notes = missing.slice(0, MAX_NOTES).map(describeFile);
  const more = missing.length - notes.length;
  return more > 0 ? [...notes, `${more} further files are not included.`] : notes;
}

/** Describes a file, why it is missing, and two ways to read it. */
function describeFile({ handle, mimeType, bytes }: Placeholder): string {
  return `The file ${handle} (${mimeType.slice(0, 100)}, ${bytes} bytes) is not included: an answer has at most eight files and 4 MiB. Read the resource ${toKeptUri(handle)}, or parts of it with resume({ handle: "${handle}" }).`;
}

function findPlaceholders(value: Json): readonly Placeholder[] {
  const found = new Map<string, Placeholder>();
  const open: Json[] = [value];
  for (let visited = 0; open.length > 0 && visited < MAX_VISITED; visited += 1) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    const placeholder = parsePlaceholder(next);
    if (placeholder) found.set(placeholder.handle, placeholder);
    open.push(...Object.values(next).slice(0, MAX_VISITED).toReversed());
  }
  return [...found.values()];
}

/** Returns `undefined` for everything that does not have the form of a placeholder. */
function parsePlaceholder(value: Json | undefined): Placeholder | undefined {
  if (!isJsonObject(value)) return undefined;
  const { mimeType, bytes } = value;
  const handle = parseResultId(value["handle"]);
  if (!handle || typeof mimeType !== "string") return undefined;
  return { handle, mimeType, bytes: typeof bytes === "number" ? bytes : 0 };
}

/**
 * Inserts files into the places from which the host removed them. One that is too large, too many or expired becomes a
 * text about it, because a placeholder is not valid MCP content.
 */
export async function restoreFiles(
  { gateway, principal }: McpDoor,
  entries: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const media = await gateway.findMedia(principal, entries);
  const files = new Map<string, string>(media.map(({ handle, base64 }) => [handle, base64]));
  return entries.map((entry) => restore(entry, files)).filter(isJsonObject);
}

/** The bridge limits the depth. */
function restore(value: Json, files: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => restore(item, files));
  if (!isJsonObject(value)) return value;
  const inside = parsePlaceholder(value["blob"]);
  if (inside) return toResource(value, inside, files.get(inside.handle));
  const itself = parsePlaceholder(value);
  if (!itself) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restore(item, files)]));
  // Images and audio are blocks; every other file is a resource whose fields are beside its placeholder.
  const { handle: _, bytes: __, type = "", ...rest } = value;
  const data = files.get(itself.handle);
  if (type !== "image" && type !== "audio") return toResource(rest, itself, data);
  return data === undefined ? { type: "text", text: describeFile(itself) } : { type, ...rest, data };
}

/** Clients expect the bytes of a resource in `blob`, as base64. */
function toResource({ blob: _, ...rest }: JsonObject, file: Placeholder, base64: string | undefined): JsonObject {
  return base64 === undefined
    ? { ...rest, mimeType: "text/plain", text: describeFile(file) }
    : { ...rest, blob: base64 };
}
