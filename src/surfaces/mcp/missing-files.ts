/** Files that a value speaks of and that are not sent along: a client reads what they are and how to get them. */

import { isJsonObject, parseResultId } from "../../domain/index.ts";
import type { Json, ResultId } from "../../domain/index.ts";
import type { Media } from "../../execution/index.ts";

/** Stands in a value where the host took a file out. */
export interface Placeholder {
  readonly handle: ResultId;
  readonly mimeType: string;
  readonly bytes: number;
}

const MAX_VISITED = 10_000;
const MAX_NOTES = 20;

/** The address under which a kept result is read as a resource; no upstream can have this namespace. */
export function toKeptUri(handle: string): string {
  return `glovebox://glovebox/${handle}`;
}

/** `undefined` for everything that does not have the form of a placeholder. */
export function parsePlaceholder(value: Json | undefined): Placeholder | undefined {
  if (!isJsonObject(value)) return undefined;
  const { mimeType, bytes } = value;
  const handle = parseResultId(value["handle"]);
  if (!handle || typeof mimeType !== "string") return undefined;
  return { handle, mimeType, bytes: typeof bytes === "number" ? bytes : 0 };
}

/** One sentence for each file of the value that is not among `media`; the last one counts what is left. */
export function describeMissing(value: Json, media: readonly Media[]): readonly string[] {
  const sent = new Set<string>(media.map(({ handle }) => handle));
  const missing = findPlaceholders(value).filter(({ handle }) => !sent.has(handle));
  const notes = missing.slice(0, MAX_NOTES).map(describeFile);
  const more = missing.length - notes.length;
  return more > 0 ? [...notes, `${more} further files are not sent along.`] : notes;
}

/** What a file is, why it is not here, and two ways to it. */
export function describeFile({ handle, mimeType, bytes }: Placeholder): string {
  return `The file ${handle} (${mimeType.slice(0, 100)}, ${bytes} bytes) is not sent along: an answer brings at most eight files and 4 MiB of them. Read the resource ${toKeptUri(handle)}, or parts of it with resume({ handle: "${handle}" }).`;
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
