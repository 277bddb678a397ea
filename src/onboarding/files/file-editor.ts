/** What the editors of the three formats have in common. */

import { GloveboxError } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";

/** Where servers are in a file. */
export interface Slot {
  readonly keys: readonly string[];
  /** True if they are a list of objects with a name. */
  readonly isList: boolean;
}

/** Edits text, so that what is not named keeps every byte. */
export interface FileEditor {
  /** Throws CONFIG_INVALID with the position. */
  parse(text: string, path: string): unknown;
  /** Adds or replaces one entry. */
  set(text: string, slot: Slot, name: string, entry: Json): string;
  remove(text: string, slot: Slot, name: string): string;
}

/** The error of a file that cannot be parsed. The file of a client is never changed then. */
export function refuseText(path: string, text: string, offset: number, problem: string): GloveboxError {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  return new GloveboxError("CONFIG_INVALID", `${path}:${place.line}:${place.column} cannot be parsed: ${problem}`, {
    hint: "Correct the file at this position, or choose other clients with --client; the file was not changed",
    ...place,
  });
}
