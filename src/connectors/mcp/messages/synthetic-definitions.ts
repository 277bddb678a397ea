/**
 * The definitions of the tools that a connector makes from a server's resources and prompts. They are pinned: another
 * wording would withhold accepted tools.
 */

import type { JsonObject, JsonSchema } from "../../../domain/index.ts";

import type { RemoteTool } from "../../connector.ts";

const TEXT: JsonObject = { type: "string" };

export type ObjectSchema = ReturnType<typeof object>;

function object(properties: Readonly<Record<string, JsonObject>>, required: readonly string[]) {
  return { type: "object", properties, required } as const;
}

function list(items: JsonObject): JsonObject {
  return { type: "array", items };
}

const NOTHING: JsonSchema = { ...object({}, []), additionalProperties: false };
const ABOUT = { title: TEXT, description: TEXT, mimeType: TEXT };
const PLACEHOLDER = object({ type: { const: "blob" }, mimeType: TEXT, bytes: { type: "integer" }, handle: TEXT }, [
  "type",
  "mimeType",
  "bytes",
]);

export const RESOURCE = object({ uri: TEXT, name: TEXT, ...ABOUT, size: { type: "number" } }, ["uri", "name"]);
export const TEMPLATE = object({ uriTemplate: TEXT, name: TEXT, ...ABOUT }, ["uriTemplate", "name"]);
export const ARGUMENT = object({ name: TEXT, description: TEXT, required: { type: "boolean" } }, ["name"]);
export const PROMPT = object({ name: TEXT, title: TEXT, description: TEXT, arguments: list(ARGUMENT) }, ["name"]);

/**
 * A tool is named after the protocol method that it calls. Read-only by the protocol: none of these methods changes
 * anything.
 */
function define(name: string, description: string, schemas: Pick<RemoteTool, "input" | "output">): RemoteTool {
  return { name, description, ...schemas, annotations: { readOnly: true }, synthetic: true };
}

/** For a server that offers resources. */
export const RESOURCE_TOOLS: readonly RemoteTool[] = [
  define(
    "resources/list",
    "Lists the resources that this server offers for reading, and the templates of addresses that can be filled in.",
    {
      input: NOTHING,
      output: object({ resources: list(RESOURCE), templates: list(TEMPLATE) }, ["resources", "templates"]),
    },
  ),
  define(
    "resources/read",
    "Reads one resource of this server by its URI. Text comes as text; binary content is kept by Glovebox, and its type and size stand in its place.",
    {
      input: {
        ...object({ uri: { ...TEXT, description: "From resources/list, or a template filled in." } }, ["uri"]),
        additionalProperties: false,
      },
      output: object(
        { contents: list(object({ uri: TEXT, mimeType: TEXT, text: TEXT, blob: PLACEHOLDER }, ["uri"])) },
        ["contents"],
      ),
    },
  ),
];

/** For a server that offers prompts. */
export const PROMPT_TOOLS: readonly RemoteTool[] = [
  define("prompts/list", "Lists the prompts that this server offers, with the arguments that each takes.", {
    input: NOTHING,
    output: object({ prompts: list(PROMPT) }, ["prompts"]),
  }),
  define("prompts/get", "Gets the messages of one prompt of this server, filled in with arguments.", {
    input: {
      ...object(
        {
          name: { ...TEXT, description: "From prompts/list." },
          arguments: { type: "object", additionalProperties: TEXT },
        },
        ["name"],
      ),
      additionalProperties: false,
    },
    output: object(
      {
        description: TEXT,
        messages: list(object({ role: TEXT, content: { type: "object" } }, ["role", "content"])),
      },
      ["messages"],
    ),
  }),
];

/** One skill of a server. `request` of the tool has the digest of each file. */
export function defineSkill(name: string, description: string, paths: readonly string[]): RemoteTool {
  const path = { enum: paths, description: "A file of the skill; by default SKILL.md, its instructions." };
  const file = object({ path: TEXT, digest: TEXT, size: { type: "integer" } }, ["path", "digest", "size"]);
  return define(name, description, {
    input: { ...object({ path }, []), additionalProperties: false },
    output: object(
      { path: TEXT, mimeType: TEXT, text: TEXT, blob: PLACEHOLDER, frontmatter: { type: "object" }, files: list(file) },
      ["path"],
    ),
  });
}
