/** Notes about files that a value refers to and that are not in the answer. */

import { isJsonObject, parseResultId } from "../../domain/index.ts";
import type { Json, ResultId } from "../../domain/index.ts";
import type { Media } from "../../execution/index.ts";

/** Replaces a file in a value. */
export interface Placeholder {
  readonly handle: ResultId;
  readonly mimeType: string;
  readonly bytes: number;
}

const MAX_VISITED = 10_000;
const MAX_NOTES = 20;

/** The address of a kept result as a resource; no upstream can have this namespace. */
export function toKeptUri(handle: string): string {
  return `glovebox://glovebox/${handle}`;
}

/** Returns `undefined` for everything that does not have the form of a placeholder. */
export function parsePlaceholder(value: Json | undefined): Placeholder | undefined {
  if (!isJsonObject(value)) return undefined;
  const { mimeType, bytes } = value;
  const handle = parseResultId(value["handle"]);
  if (!handle || typeof mimeType !== "string") return undefined;
  return { handle, mimeType, bytes: typeof bytes === "number" ? bytes : 0 };
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
export function describeFile({ handle, mimeType, bytes }: Placeholder): string {
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
