/** Page marks that a client carries about without being able to make sense, or wrong use, of them. */

import { digestOf } from "../../text/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

const MAX_LENGTH = 64;

/** A mark for the place where the next page of this very question begins. */
export function toCursor(offset: number, question: Json): string {
  return Buffer.from(`${offset}.${fingerprint(question)}`).toString("base64url");
}

/** Refuses a mark of another question or another catalog: its place would mean nothing here. */
export function parseCursor(raw: string, question: Json): number {
  const [digits = ""] = Buffer.from(raw.slice(0, MAX_LENGTH), "base64url").toString("latin1").split(".", 1);
  const offset = /^\d{1,9}$/.test(digits) ? Number(digits) : 0;
  // Written anew and compared: what is not exactly one of our own marks is none.
  if (raw !== toCursor(offset, question)) {
    throw new GloveboxError(
      "REQUEST_INVALID",
      "The cursor belongs to another search, or the tools have changed since",
      {
        hint: "Search again without a cursor",
      },
    );
  }
  return offset;
}

function fingerprint(question: Json): string {
  return digestOf(question).slice("sha256:".length, "sha256:".length + 16);
}
