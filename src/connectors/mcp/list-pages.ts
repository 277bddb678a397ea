/** Follows the pages of a list to their end, or to the point where no honest server would be. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { invalidList } from "./invalid-list.ts";

const MAX_ITEMS = 10_000;
const MAX_PAGES = 100;
const MAX_CHARS = 32 * 1024 * 1024;

/** Asks for one page; the first has no cursor. */
export type AskPage = (params: JsonObject) => Promise<unknown>;

/** All items of a list, in the server's order, unparsed. `key` names the list within a page, such as `tools`. */
export async function listPages(key: string, askPage: AskPage): Promise<readonly Json[]> {
  const items: Json[] = [];
  let chars = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const raw = await askPage(cursor === undefined ? {} : { cursor });
    const found = isJsonObject(raw) ? raw[key] : undefined;
    if (!isJsonObject(raw) || !Array.isArray(found)) throw invalidList(key, `there is no list of ${key} in it`);
    for (const item of found) items.push(item);
    if (items.length > MAX_ITEMS) throw invalidList(key, `there are more than ${MAX_ITEMS} ${key}`);
    chars += JSON.stringify(found).length;
    if (chars > MAX_CHARS) throw invalidList(key, `its definitions exceed ${MAX_CHARS} characters`);
    const { nextCursor } = raw;
    if (typeof nextCursor !== "string" || nextCursor === "") return items;
    cursor = nextCursor;
  }
  throw invalidList(key, `there are more than ${MAX_PAGES} pages`);
}
