/**
 * Resources and prompts of a server as tools, so that policy, pins, ledger and types treat them like any other. A
 * program writes `server.resourcesRead({ uri })`. Answers are reduced to what the output schemas declare.
 */

import { defined, isJsonObject } from "../../../domain/index.ts";
import type { Attachment, Json, JsonObject } from "../../../domain/index.ts";

import type { RemoteResult, RemoteTool } from "../../connector.ts";
import { invalid, parseBlock, parseResource } from "./content.ts";
import { invalidList, listPages } from "./parse-tools.ts";
import { ARGUMENT, PROMPT, PROMPT_TOOLS, RESOURCE, RESOURCE_TOOLS, TEMPLATE } from "./synthetic-definitions.ts";
import type { ObjectSchema } from "./synthetic-definitions.ts";

/** Sends one request and resolves with the result as the server sent it. */
export type SendRequest = (method: string, params: JsonObject) => Promise<unknown>;

/** The tools to add. A real tool whose name would be the same in a program takes precedence. */
export function defineSynthetic(
  offers: { readonly resources: boolean; readonly prompts: boolean },
  tools: readonly RemoteTool[],
): readonly RemoteTool[] {
  const taken = new Set(tools.map(({ name }) => toPlainName(name)));
  const offered = [...(offers.resources ? RESOURCE_TOOLS : []), ...(offers.prompts ? PROMPT_TOOLS : [])];
  return offered.filter(({ name }) => !taken.has(toPlainName(name)));
}

function toPlainName(name: string): string {
  return name.replaceAll(/[^a-z0-9]/gi, "").toLowerCase();
}

/** Answers a call of one of these tools. The server checks the arguments. */
export async function callSynthetic(name: string, args: JsonObject, ask: SendRequest): Promise<RemoteResult> {
  const attachments: Attachment[] = [];
  return { value: await answer(name, args, ask, attachments), attachments };
}

async function answer(
  name: string,
  args: JsonObject,
  ask: SendRequest,
  attachments: Attachment[],
): Promise<JsonObject> {
  switch (name) {
    case "resources/list": {
      const resources = await list("resources", ask, name);
      // A server without templates may not know the method. Its resources are listed in any case.
      const templates = await list("resourceTemplates", ask, "resources/templates/list").catch(() => []);
      return {
        resources: resources.map((raw) => reduce(raw, RESOURCE)),
        templates: templates.map((raw) => reduce(raw, TEMPLATE)),
      };
    }
    case "resources/read":
      return parseContents(await ask(name, { uri: args["uri"] ?? "" }), attachments);
    case "prompts/list":
      return { prompts: (await list("prompts", ask, name)).map(parsePrompt) };
    case "prompts/get": {
      const { name: prompt = "", arguments: values } = args;
      return parsePromptMessages(await ask(name, { name: prompt, ...defined({ arguments: values }) }), attachments);
    }
    default:
      throw new TypeError(`${name} is not a synthetic tool`);
  }
}

function list(key: string, ask: SendRequest, method: string): Promise<readonly Json[]> {
  return listPages(key, (params) => ask(method, params));
}

/**
 * Only the fields that the schema declares. Required fields are strings; an optional field of another type is dropped.
 */
function reduce(raw: Json, { properties, required }: ObjectSchema): JsonObject {
  if (!isJsonObject(raw) || required.some((key) => typeof raw[key] !== "string")) {
    throw invalidList("resources or prompts", `an entry lacks ${required.join(" or ")}`);
  }
  const fields = Object.entries(properties).map(([key, { type }]) => [
    key,
    typeof raw[key] === type ? raw[key] : undefined,
  ]);
  return defined(Object.fromEntries(fields));
}

function parsePrompt(raw: Json): JsonObject {
  const prompt = reduce(raw, PROMPT);
  const args = isJsonObject(raw) ? raw["arguments"] : undefined;
  return Array.isArray(args) ? { ...prompt, arguments: args.map((item: Json) => reduce(item, ARGUMENT)) } : prompt;
}

function parseContents(raw: unknown, attachments: Attachment[]): JsonObject {
  const contents = isJsonObject(raw) ? raw["contents"] : undefined;
  if (!Array.isArray(contents)) throw invalid("it has no contents");
  return {
    contents: contents.map((item: Json, index) => {
      if (!isJsonObject(item)) throw invalid("a resource is not an object");
      const { uri, mimeType, text, blob } = parseResource(item, ["contents", index], attachments);
      const type = typeof mimeType === "string" ? mimeType : undefined;
      return defined({ uri: uri ?? "", mimeType: type, text: blob === undefined ? (text ?? "") : undefined, blob });
    }),
  };
}

function parsePromptMessages(raw: unknown, attachments: Attachment[]): JsonObject {
  if (!isJsonObject(raw) || !Array.isArray(raw["messages"])) throw invalid("it has no messages");
  const { description } = raw;
  const messages = raw["messages"].map((message: Json, index) => {
    if (!isJsonObject(message) || typeof message["role"] !== "string") throw invalid("a message has no role");
    const content = parseBlock(message["content"], ["messages", index, "content"], attachments);
    return { role: message["role"], content };
  });
  return { ...defined({ description: typeof description === "string" ? description : undefined }), messages };
}
