/** Files beside a text, as the content blocks of MCP. Their bytes never stand in a text. */

import type { ContentBlock } from "@modelcontextprotocol/server";

import type { Media } from "../../execution/index.ts";
import { toKeptUri } from "./missing-files.ts";

/** Pictures and sounds as such, everything else as an embedded resource under the handle's own address. */
export function toBlock({ handle, mimeType, base64 }: Omit<Media, "labels">): ContentBlock {
  if (mimeType.startsWith("image/")) return { type: "image", mimeType, data: base64 };
  if (mimeType.startsWith("audio/")) return { type: "audio", mimeType, data: base64 };
  return { type: "resource", resource: { uri: toKeptUri(handle), mimeType, blob: base64 } };
}
