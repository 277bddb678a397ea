/** The tools of a server, from the pages of `tools/list`. */

import type { RemoteTool } from "../connector.ts";
import { listPages } from "./list-pages.ts";
import type { AskPage } from "./list-pages.ts";
import { invalid, parseTool } from "./parse-tools.ts";

/**
 * All tools of a server, in its order. A single wrong definition refuses the list: leaving it out silently would hide
 * it. So do two tools with one name, because an approval of the first could then cover the second.
 */
export async function listTools(askPage: AskPage): Promise<readonly RemoteTool[]> {
  const tools = new Map<string, RemoteTool>();
  for (const raw of await listPages("tools", askPage)) {
    const tool = parseTool(raw);
    if (tools.has(tool.name)) throw invalid(`two tools are called ${JSON.stringify(tool.name)}`);
    tools.set(tool.name, tool);
  }
  return [...tools.values()];
}
