/** Turns what a server lists into tools. Definitions are untrusted: a model reads them and other rooms walk them. */

import { GloveboxError, depthOf, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../domain/index.ts";

import type { RemoteAnnotations, RemoteTool } from "../connector.ts";

const MAX_NAME_LENGTH = 256;
/** Deeper than any schema a person wrote, shallow enough for every recursive walk over it. */
const MAX_SCHEMA_DEPTH = 128;

export interface ToolPage {
  readonly tools: readonly RemoteTool[];
  readonly nextCursor: string | undefined;
}

/** One page of `tools/list`. A single wrong definition refuses the page: leaving it out silently would hide it. */
export function parseToolPage(raw: unknown): ToolPage {
  if (!isJsonObject(raw) || !Array.isArray(raw["tools"])) throw invalid("there is no list of tools in it");
  const { nextCursor } = raw;
  return {
    tools: raw["tools"].map(parseTool),
    nextCursor: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
  };
}

function parseTool(raw: Json): RemoteTool {
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

/** The one shape of a refused listing. */
export function invalid(why: string): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `The server's list of tools cannot be used: ${why}`, {
    hint: "The server breaks the protocol; update it or report this to its authors",
  });
}
