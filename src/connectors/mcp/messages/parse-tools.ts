/**
 * Follows the pages of a listing, and turns listed definitions into tools. They are untrusted: a model reads them and
 * other rooms walk them.
 */

import { GloveboxError, defined, depthOf, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../../domain/index.ts";

import type { RemoteAnnotations, RemoteTool } from "../../connector.ts";

/** No honest server reaches these limits. */
const MAX_ITEMS = 10_000;
const MAX_PAGES = 100;
const MAX_CHARS = 32 * 1024 * 1024;
const MAX_NAME_LENGTH = 256;
/** Deeper than any schema that a person wrote, shallow enough for every recursive walk over it. */
const MAX_SCHEMA_DEPTH = 128;

/**
 * All tools of a server, from the pages of `tools/list`, in its order. One invalid definition refuses the whole list,
 * because dropping it silently would hide it. So do two tools with one name: an approval of the first could otherwise
 * cover the second.
 */
export async function listTools(requestPage: RequestPage): Promise<readonly RemoteTool[]> {
  const tools = new Map<string, RemoteTool>();
  for (const raw of await listPages("tools", requestPage)) {
    const tool = parseTool(raw);
    if (tools.has(tool.name)) throw invalid(`two tools are called ${JSON.stringify(tool.name)}`);
    tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/** One definition of `tools/list`. */
function parseTool(raw: Json): RemoteTool {
  if (!isJsonObject(raw)) throw invalid("a tool is not an object");
  const { name, title, description, outputSchema } = raw;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH) {
    throw invalid(`a tool's name is not a string of 1 to ${MAX_NAME_LENGTH} characters`);
  }
  return {
    name,
    ...defined({ title: typeof title === "string" ? title : undefined }),
    description: typeof description === "string" ? description : "",
    input: parseSchema(raw["inputSchema"], name),
    output: outputSchema === undefined || outputSchema === null ? null : parseSchema(outputSchema, name),
    annotations: parseAnnotations(raw["annotations"]),
  };
}

function parseSchema(raw: Json | undefined, name: string): JsonSchema {
  if (!isJsonObject(raw)) throw invalid(`a schema of ${JSON.stringify(name)} is not an object`);
  if (depthOf(raw, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH) {
    throw invalid(`a schema of ${JSON.stringify(name)} nests deeper than ${MAX_SCHEMA_DEPTH} levels`);
  }
  return raw;
}

/** Ignores every value that is not a boolean. */
function parseAnnotations(raw: Json | undefined): RemoteAnnotations {
  const read = (hint: string): boolean | undefined => {
    const value = isJsonObject(raw) ? raw[hint] : undefined;
    return typeof value === "boolean" ? value : undefined;
  };
  return defined({
    readOnly: read("readOnlyHint"),
    destructive: read("destructiveHint"),
    idempotent: read("idempotentHint"),
    openWorld: read("openWorldHint"),
  });
}

/** An invalid definition refuses the whole list of tools. */
function invalid(why: string): GloveboxError {
  return invalidList("tools", why);
}

/** Requests one page; the first has no cursor. */
type RequestPage = (params: JsonObject) => Promise<unknown>;

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
