/** The errors of this room: each has a position in the author's source and a message of bounded length. */

import { GloveboxError } from "../domain/index.ts";
import type { ErrorCode } from "../domain/index.ts";
import { createLocator, frameAt, toPrintable } from "./locate.ts";

const MESSAGE_CHARS = 240;

/** What is wrong and where; `offset` is in the author's source. */
export interface SourceComplaint {
  readonly message: string;
  readonly offset: number;
  readonly hint: string;
}

/**
 * Creates the error to throw. Messages may quote the source (names of any length, control characters), so they are
 * cleaned and shortened here.
 */
export function refuse(code: ErrorCode, source: string, complaint: SourceComplaint): GloveboxError {
  const { line, column } = createLocator(source)(complaint.offset);
  return new GloveboxError(code, cutMessage(complaint.message), {
    hint: complaint.hint,
    line,
    column,
    frame: frameAt(source, line, column),
  });
}

/** One printable line of bounded length. */
export function cutMessage(message: string): string {
  const line = toPrintable(message.replaceAll("\t", " "));
  return line.length > MESSAGE_CHARS ? `${line.slice(0, MESSAGE_CHARS - 1).toWellFormed()}…` : line;
}
