/** Turns what a server lists into tools. Definitions are untrusted: a model reads them and other rooms walk them. */

import { depthOf, isJsonObject } from "../../../domain/index.ts";
import type { GloveboxError, Json, JsonObject, JsonSchema } from "../../../domain/index.ts";

import type { RemoteAnnotations, RemoteTool } from "../../connector.ts";
import { invalidList, listPages } from "./list-pages.ts";
import type { RequestPage } from "./list-pages.ts";

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
export function parseTool(raw: Json): RemoteTool {
  if (!isJsonObject(raw)) throw invalid("a tool is not an object");
  const { name, title, description, outputSchema } = raw;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH) {
    throw invalid(`a tool's name is not a string of 1 to ${MAX_NAME_LENGTH} characters`);
  }
  return {
    name,
    ...(typeof title === "string" && { title }),
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
  if (!isJsonObject(raw)) return {};
  return {
    ...claim("readOnly", raw, "readOnlyHint"),
    ...claim("destructive", raw, "destructiveHint"),
    ...claim("idempotent", raw, "idempotentHint"),
    ...claim("openWorld", raw, "openWorldHint"),
  };
}

function claim(key: keyof RemoteAnnotations, raw: JsonObject, hint: string): RemoteAnnotations {
  const value = raw[hint];
  return typeof value === "boolean" ? { [key]: value } : {};
}

/** An invalid definition refuses the whole list of tools. */
function invalid(why: string): GloveboxError {
  return invalidList("tools", why);
}
