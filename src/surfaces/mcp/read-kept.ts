/** A kept result as a resource, for clients that got its address. */

import { ResourceNotFoundError } from "@modelcontextprotocol/server";

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

/** A larger result must be read in parts. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Rejects like an unknown resource if it belongs to another principal or has expired. */
export async function readKept(door: McpDoor, handle: string, uri: string): Promise<JsonObject> {
  const { value, next, summary } = await read(door, handle, uri);
  const { mimeType, bytes, shape } = summary;
  if (bytes > MAX_BYTES || (shape === "" && next !== undefined)) {
    const text = `The result has ${bytes} bytes, too many for a resource: read it in parts with resume({ handle: "${handle}", offset, limit }).`;
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  }
  const content = shape === "" ? { blob: base64Of(value) } : { text: JSON.stringify(value) };
  return { contents: [{ uri, mimeType, ...content }] };
}

async function read({ gateway, principal }: McpDoor, handle: string, uri: string) {
  try {
    const first = await gateway.readResult(principal, handle, {});
    const isPage = first.summary.shape === "" && first.next !== undefined;
    return isPage ? await gateway.readResult(principal, handle, { limit: MAX_BYTES }) : first;
  } catch (thrown) {
    if (thrown instanceof GloveboxError && thrown.code === "REQUEST_NOT_FOUND") throw new ResourceNotFoundError(uri);
    throw thrown;
  }
}

function base64Of(value: Json): string {
  const base64 = isJsonObject(value) ? value["base64"] : undefined;
  return typeof base64 === "string" ? base64 : "";
}
