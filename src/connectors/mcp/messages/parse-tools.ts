/**
 * Follows the pages of a listing, and turns listed definitions into tools. They are untrusted: a model reads them and
 * other rooms walk them.
 */

import { GloveboxError, defined, depthOf, isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";
import { mapInSlices, runInSlices } from "../../../timing/index.ts";

import type { RemoteAnnotations, RemoteTool } from "../../connector.ts";

/** No honest server reaches these limits. */
const MAX_ITEMS = 10_000;
const MAX_PAGES = 100;
const MAX_CHARS = 32 * 1024 * 1024;
const MAX_NAME_LENGTH = 256;
/** Deeper than any schema that a person wrote, shallow enough for every recursive walk over it. */
const MAX_SCHEMA_DEPTH = 128;

/**
 * All tools of a server, from the pages of `tools/list`, in its order. An invalid definition is marked as unusable and
 * does not affect the others. All tools with one name are unusable: an approval of the first could otherwise cover the
 * second.
 */
export async function listTools(requestPage: RequestPage): Promise<readonly RemoteTool[]> {
  const tools = await runInSlices(mapInSlices(await listPages("tools", requestPage), parseTool));
  const byName = Map.groupBy(tools, ({ name }) => name);
  return tools.map((tool) => {
    const isOnly = tool.unusable !== undefined || byName.get(tool.name)?.length === 1;
    return isOnly ? tool : toUnusable(tool.name, "another tool has the same name");
  });
}

/** One definition of `tools/list`. */
function parseTool(raw: Json): RemoteTool {
  if (!isJsonObject(raw)) return toUnusable("", "it is not an object");
  const { name, title, description, inputSchema: input, outputSchema } = raw;
  if (typeof name !== "string" || name === "") return toUnusable("", "its name is not a string with characters");
  if (name.length > MAX_NAME_LENGTH) return toUnusable(name, `its name has more than ${MAX_NAME_LENGTH} characters`);
  const output = outputSchema ?? null;
  if (!isJsonObject(input) || (output !== null && !isJsonObject(output)))
    return toUnusable(name, "a schema is not an object");
  if (depthOf(input, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH || depthOf(output, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH)
    return toUnusable(name, `a schema nests deeper than ${MAX_SCHEMA_DEPTH} levels`);
  return {
    name,
    ...defined({ title: typeof title === "string" ? title : undefined }),
    description: typeof description === "string" ? description : "",
    input,
    output,
    annotations: parseAnnotations(raw["annotations"]),
  };
}

/** Keeps nothing of the definition but the start of its name. */
function toUnusable(name: string, unusable: string): RemoteTool {
  const kept = name.slice(0, MAX_NAME_LENGTH);
  return { name: kept, description: "", input: { type: "object" }, output: null, annotations: {}, unusable };
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
    const sizes = await runInSlices(mapInSlices(found, (item: Json) => JSON.stringify(item).length));
    chars = sizes.reduce((sum, size) => sum + size, chars);
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
