/** The files that a value speaks of by handle, to be shown beside it: bounded in number and size. */

import { isJsonObject, parseResultId } from "../../domain/index.ts";
import type { Json, LabelSource, PrincipalId, ResultId } from "../../domain/index.ts";

import type { Results } from "./create-results.ts";

/** One file, ready to be sent. */
export interface Media {
  readonly handle: ResultId;
  readonly mimeType: string;
  readonly base64: string;
  /** What its makers had read. */
  readonly labels: readonly LabelSource[];
}

const MAX_FILES = 8;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_VISITED = 10_000;

/** In the order of the value; what is too large, expired or somebody else's is left out. */
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

/** Only what has the form of a placeholder: a handle with the type of a file. */
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
