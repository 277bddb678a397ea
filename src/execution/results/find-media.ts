/** Finds the files that a value refers to by handle, bounded in number and size. */

import { isJsonObject, parseResultId } from "../../domain/index.ts";
import type { Json, LabelSource, PrincipalId, ResultId } from "../../domain/index.ts";

import type { Results } from "../kept-results.ts";

/** One file, ready to send. */
export interface Media {
  readonly handle: ResultId;
  readonly mimeType: string;
  readonly base64: string;
  /** What the session that made it had read. */
  readonly labels: readonly LabelSource[];
}

const MAX_FILES = 8;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_VISITED = 10_000;

/** In the order of the value, without files that are too large, expired or another principal's. */
export async function findMedia(
  results: Pick<Results, "findFile">,
  principal: PrincipalId,
  value: Json | undefined,
): Promise<readonly Media[]> {
  const media: Media[] = [];
  let left = MAX_BYTES;
  for (const handle of findHandles(value ?? null)) {
    const file = await results.findFile(principal, handle);
    if (!file || file.body.byteLength > left) continue;
    left -= file.body.byteLength;
    const { mimeType, labels } = file;
    media.push({ handle, mimeType, base64: Buffer.from(file.body).toString("base64"), labels });
  }
  return media;
}

/** Placeholders only: objects with a handle and a MIME type. */
function findHandles(value: Json): readonly ResultId[] {
  const found = new Set<ResultId>();
  const open: Json[] = [value];
  for (let visited = 0; open.length > 0 && visited < MAX_VISITED && found.size < MAX_FILES; visited += 1) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    const handle =
      isJsonObject(next) && typeof next["mimeType"] === "string" ? parseResultId(next["handle"]) : undefined;
    if (handle) found.add(handle);
    open.push(...Object.values(next).slice(0, MAX_VISITED).toReversed());
  }
  return [...found];
}
