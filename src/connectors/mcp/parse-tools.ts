/** Turns what a server lists into tools. Definitions are untrusted: a model reads them and other rooms walk them. */

import { depthOf, isJsonObject } from "../../domain/index.ts";
import type { GloveboxError, Json, JsonObject, JsonSchema } from "../../domain/index.ts";

import type { RemoteAnnotations, RemoteTool } from "../connector.ts";
import { invalidList } from "./invalid-list.ts";

const MAX_NAME_LENGTH = 256;
/** Deeper than any schema a person wrote, shallow enough for every recursive walk over it. */
const MAX_SCHEMA_DEPTH = 128;

/** One definition of `tools/list`. */
export function parseTool(raw: Json): RemoteTool {
  if (!isJsonObject(raw)) throw invalid("a tool is not an object");
  const { name, title, description, outputSchema } = raw;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH) {
    throw invalid(`a tool's name is not a text of 1 to ${MAX_NAME_LENGTH} characters`);
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

/** Anything but a boolean counts as not said. */
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

/** A refused definition refuses the whole list of tools. */
export function invalid(why: string): GloveboxError {
  return invalidList("tools", why);
}
