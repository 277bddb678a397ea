/** Follows the pages of a listing to the end, or to a limit that no honest server reaches. */

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

const MAX_ITEMS = 10_000;
const MAX_PAGES = 100;
const MAX_CHARS = 32 * 1024 * 1024;

/** Requests one page; the first has no cursor. */
export type RequestPage = (params: JsonObject) => Promise<unknown>;

/** All items of a listing, in the server's order, unparsed. `key` names the array within a page, such as `tools`. */
export async function listPages(key: string, requestPage: RequestPage): Promise<readonly Json[]> {
  const items: Json[] = [];
  let chars = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const raw = await requestPage(cursor === undefined ? {} : { cursor });
    const found = isJsonObject(raw) ? raw[key] : undefined;
    if (!isJsonObject(raw) || !Array.isArray(found)) throw invalidList(key, `it has no array ${key}`);
    for (const item of found) items.push(item);
    if (items.length > MAX_ITEMS) throw invalidList(key, `it has more than ${MAX_ITEMS} ${key}`);
    chars += JSON.stringify(found).length;
    if (chars > MAX_CHARS) throw invalidList(key, `its definitions exceed ${MAX_CHARS} characters`);
    const { nextCursor } = raw;
    if (typeof nextCursor !== "string" || nextCursor === "") return items;
    cursor = nextCursor;
  }
  throw invalidList(key, `it has more than ${MAX_PAGES} pages`);
}

/** The error for a refused listing; `what` is the plural of what was listed. */
export function invalidList(what: string, why: string): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `The server's list of ${what} cannot be used: ${why}`, {
    hint: "The server violates the protocol; update it or report this to its authors",
  });
}
