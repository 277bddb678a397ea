/** Opaque cursors for pages of search results. */

import { digestOf } from "../../text/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

const MAX_LENGTH = 64;

/** Returns a cursor for the next page of this search. */
export function toCursor(offset: number, search: Json): string {
  return Buffer.from(`${offset}.${fingerprint(search)}`).toString("base64url");
}

/** Returns the offset of a cursor. Refuses a cursor of another search or another catalog. */
export function parseCursor(raw: string, search: Json): number {
  const [digits = ""] = Buffer.from(raw.slice(0, MAX_LENGTH), "base64url").toString("latin1").split(".", 1);
  const offset = /^\d{1,9}$/.test(digits) ? Number(digits) : 0;
  // Encoded again and compared, so that only cursors of this function are accepted.
  if (raw !== toCursor(offset, search)) {
    throw new GloveboxError("REQUEST_INVALID", "The cursor belongs to another search, or the tools have changed", {
      hint: "Search again without a cursor",
    });
  }
  return offset;
}

function fingerprint(search: Json): string {
  return digestOf(search).slice("sha256:".length, "sha256:".length + 16);
}
