/** Files as MCP content blocks. Their bytes are never part of a text. */

import type { ContentBlock } from "@modelcontextprotocol/server";

import type { Media } from "../../execution/index.ts";
import { toKeptUri } from "./missing-files.ts";

/** Images and audio have their own block types; every other file is an embedded resource with the handle's address. */
export function toBlock({ handle, mimeType, base64 }: Omit<Media, "labels">): ContentBlock {
  if (mimeType.startsWith("image/")) return { type: "image", mimeType, data: base64 };
  if (mimeType.startsWith("audio/")) return { type: "audio", mimeType, data: base64 };
  return { type: "resource", resource: { uri: toKeptUri(handle), mimeType, blob: base64 } };
}
