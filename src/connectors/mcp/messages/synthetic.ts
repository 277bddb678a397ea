/**
 * Resources and prompts of a server as tools, so that policy, pins, ledger and types treat them like any other. A
 * program writes `server.resourcesRead({ uri })`. Answers are reduced to what the output schemas declare.
 */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { RemoteResult, RemoteTool } from "../../connector.ts";
import { Attachments, invalid, parseBlock, parseResource } from "./content.ts";
import { invalidList, listPages } from "./list-pages.ts";
import { PROMPT_TOOLS, RESOURCE_TOOLS } from "./synthetic-definitions.ts";

/** Sends one request and resolves with the result as the server sent it. */
export type SendRequest = (method: string, params: JsonObject) => Promise<unknown>;

/** What a server offers besides tools. */
export interface Offers {
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** The tools to add. A real tool whose name would be the same in a program takes precedence. */
export function defineSynthetic(offers: Offers, tools: readonly RemoteTool[]): readonly RemoteTool[] {
  const taken = new Set(tools.map(({ name }) => toPlainName(name)));
  const offered = [...(offers.resources ? RESOURCE_TOOLS : []), ...(offers.prompts ? PROMPT_TOOLS : [])];
  return offered.filter(({ name }) => !taken.has(toPlainName(name)));
}

function toPlainName(name: string): string {
  return name.replaceAll(/[^a-z0-9]/gi, "").toLowerCase();
}

/** Answers a call of one of these tools. The server checks the arguments. */
export async function callSynthetic(name: string, args: JsonObject, ask: SendRequest): Promise<RemoteResult> {
  const attachments = new Attachments();
  const value = await answer(name, args, { ask, attachments });
  return { value, attachments: attachments.list() };
}

interface AnswerPowers {
  readonly ask: SendRequest;
  readonly attachments: Attachments;
}

async function answer(name: string, args: JsonObject, { ask, attachments }: AnswerPowers): Promise<JsonObject> {
  switch (name) {
    case "resources/list":
      return listResources(ask);
    case "resources/read":
      return parseContents(await ask("resources/read", { uri: args["uri"] ?? "" }), attachments);
    case "prompts/list":
      return { prompts: (await listPages("prompts", toPager(ask, "prompts/list"))).map(parsePrompt) };
    case "prompts/get":
      return parsePromptMessages(await ask("prompts/get", toPromptParams(args)), attachments);
    default:
      throw new TypeError(`${name} is not a synthetic tool`);
  }
}

function toPager(ask: SendRequest, method: string): (params: JsonObject) => Promise<unknown> {
  return (params) => ask(method, params);
}

/** A server without templates may not know the method. Its resources are listed in any case. */
async function listResources(ask: SendRequest): Promise<JsonObject> {
  const resources = await listPages("resources", toPager(ask, "resources/list"));
  const templates = await listPages("resourceTemplates", toPager(ask, "resources/templates/list")).catch(() => []);
  return {
    resources: resources.map((raw) => pick(raw, ["uri", "name"], { ...ABOUT, size: "number" })),
    templates: templates.map((raw) => pick(raw, ["uriTemplate", "name"], ABOUT)),
  };
}

const ABOUT = { title: "string", description: "string", mimeType: "string" } as const;

function parsePrompt(raw: Json): JsonObject {
  const prompt = pick(raw, ["name"], { title: "string", description: "string" });
  const args = isJsonObject(raw) ? raw["arguments"] : undefined;
  if (!Array.isArray(args)) return prompt;
  const parsed = args.map((item: Json) => pick(item, ["name"], { description: "string", required: "boolean" }));
  return { ...prompt, arguments: parsed };
}

/** Required fields are strings; an optional field of another type is dropped. */
function pick(raw: Json, required: readonly string[], optional: Readonly<Record<string, string>>): JsonObject {
  if (!isJsonObject(raw) || required.some((key) => typeof raw[key] !== "string")) {
    throw invalidList("resources or prompts", `an entry lacks ${required.join(" or ")}`);
  }
  const keys = [...required, ...Object.keys(optional).filter((key) => typeof raw[key] === optional[key])];
  return Object.fromEntries(keys.flatMap((key) => (raw[key] === undefined ? [] : [[key, raw[key]]])));
}

function parseContents(raw: unknown, attachments: Attachments): JsonObject {
  const contents = isJsonObject(raw) ? raw["contents"] : undefined;
  if (!Array.isArray(contents)) throw invalid("it has no contents");
  return {
    contents: contents.map((item: Json, index) => {
      if (!isJsonObject(item)) throw invalid("a resource is not an object");
      const { uri, mimeType, text, blob } = parseResource(item, ["contents", index], attachments);
      return {
        uri: uri ?? "",
        ...(typeof mimeType === "string" && { mimeType }),
        ...(blob === undefined ? { text: text ?? "" } : { blob }),
      };
    }),
  };
}

function toPromptParams(args: JsonObject): JsonObject {
  const { name = "", arguments: given } = args;
  return { name, ...(given !== undefined && { arguments: given }) };
}

function parsePromptMessages(raw: unknown, attachments: Attachments): JsonObject {
  if (!isJsonObject(raw) || !Array.isArray(raw["messages"])) throw invalid("it has no messages");
  const { description } = raw;
  const messages = raw["messages"].map((message: Json, index) => {
    if (!isJsonObject(message) || typeof message["role"] !== "string") throw invalid("a message has no role");
    const content = parseBlock(message["content"], ["messages", index, "content"], attachments);
    return { role: message["role"], content };
  });
  return { ...(typeof description === "string" && { description }), messages };
}
