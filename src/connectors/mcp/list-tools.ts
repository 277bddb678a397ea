/** Follows the pages of `tools/list` to their end, or to the point where no honest server would be. */

import type { JsonObject } from "../../domain/index.ts";

import type { RemoteTool } from "../connector.ts";
import { invalid, parseToolPage } from "./parse-tools.ts";

const MAX_TOOLS = 10_000;
const MAX_PAGES = 100;
const MAX_DEFINITION_CHARS = 32 * 1024 * 1024;

/** Asks for one page; the first has no cursor. */
export type AskPage = (params: JsonObject) => Promise<unknown>;

/**
 * All tools of a server, in its order. Two tools with one name are refused, because an approval of the first could
 * then cover the second.
 */
export async function listTools(askPage: AskPage): Promise<readonly RemoteTool[]> {
  const tools = new Map<string, RemoteTool>();
  let chars = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { tools: found, nextCursor } = parseToolPage(await askPage(cursor === undefined ? {} : { cursor }));
    for (const tool of found) {
      if (tools.has(tool.name)) throw invalid(`two tools are called ${JSON.stringify(tool.name)}`);
      tools.set(tool.name, tool);
    }
    if (tools.size > MAX_TOOLS) throw invalid(`there are more than ${MAX_TOOLS} tools`);
    chars += JSON.stringify(found).length;
    if (chars > MAX_DEFINITION_CHARS) throw invalid(`its definitions exceed ${MAX_DEFINITION_CHARS} characters`);
    if (nextCursor === undefined) return [...tools.values()];
    cursor = nextCursor;
  }
  throw invalid(`there are more than ${MAX_PAGES} pages`);
}
