/**
 * Resources and prompts of upstreams. Connectors offer them as tools (`resources/list`, …), so each request is a call of
 * these tools through the bridge: policy, limits and ledger apply.
 */

import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";

import { cleanText } from "../../text/index.ts";
import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, Tool } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import { parsePromptName, parseResourceUri, toPromptName, toResourceUri, toTemplateUri } from "./addresses.ts";
import type { UpstreamPlace } from "./addresses.ts";
import type { PASSED_THROUGH } from "./plain-tools.ts";
import { readKept } from "./read-kept.ts";
import { restoreFiles } from "./restore-files.ts";
import { showText } from "./show-text.ts";

type Method = (typeof PASSED_THROUGH)[number];

/** The namespace of kept results; no upstream can have it. */
const KEPT = "glovebox";
/** The tool that reads the entries of a list. If policy denies it, the list is not shown. */
const OPENED_BY = { "resources/list": "resources/read", "prompts/list": "prompts/get" } as const;
const MAX_LISTED = 1_000;
const TEXT_BYTES = 4_096;
const TEXTS = ["name", "title", "description", "mimeType"] as const;

/** The resources of all servers, without those that fail. */
export async function listResources(door: McpDoor, signal: AbortSignal): Promise<readonly JsonObject[]> {
  return collect(door, { method: "resources/list", list: "resources", signal }, (entry, namespace) => {
    const { uri, size } = entry;
    if (typeof uri !== "string") return undefined;
    return { ...pickTexts(entry), ...(typeof size === "number" && { size }), uri: toResourceUri(namespace, uri) };
  });
}

/** The resource templates of all servers. */
export async function listTemplates(door: McpDoor, signal: AbortSignal): Promise<readonly JsonObject[]> {
  return collect(door, { method: "resources/list", list: "templates", signal }, (entry, namespace) => {
    const { uriTemplate } = entry;
    if (typeof uriTemplate !== "string") return undefined;
    return { ...pickTexts(entry), uriTemplate: toTemplateUri(namespace, uriTemplate) };
  });
}

/** The prompts of all servers, with names prefixed by the namespace. */
export async function listPrompts(door: McpDoor, signal: AbortSignal): Promise<readonly JsonObject[]> {
  return collect(door, { method: "prompts/list", list: "prompts", signal }, (entry, namespace) => {
    const { mimeType: _, ...texts } = pickTexts(entry);
    const taken = listOf(entry, "arguments").map((argument) => {
      const { required } = argument;
      return { ...pickTexts(argument), ...(typeof required === "boolean" && { required }) };
    });
    const args = taken.length > 0 && { arguments: taken.filter(hasName) };
    return { ...texts, ...args, name: toPromptName(namespace, nameOf(entry)) };
  });
}

/** Rejects with a protocol error if the resource does not exist or its server fails. */
export async function readResource(door: McpDoor, uri: string, signal: AbortSignal): Promise<JsonObject> {
  const place = parseResourceUri(uri);
  if (place?.namespace === KEPT) return readKept(door, place.own, uri);
  const tool = place && (await findTool(door, place, "resources/read"));
  if (!place || !tool) throw new ResourceNotFoundError(uri);
  const value = await callOne(door, tool, { args: { uri: place.own }, signal });
  const contents = await restoreFiles(door, listOf(value, "contents"));
  return { contents: contents.map((entry) => ({ ...showContent(entry), uri: toOwnUri(entry, place, uri) })) };
}

/** Rejects with a protocol error if the prompt does not exist or its server fails. */
export async function getPrompt(
  door: McpDoor,
  { name, args }: { readonly name: string; readonly args: JsonObject },
  signal: AbortSignal,
): Promise<JsonObject> {
  const place = parsePromptName(name);
  const tool = place && (await findTool(door, place, "prompts/get"));
  if (!place || !tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
  const value = await callOne(door, tool, { args: { name: place.own, arguments: args }, signal });
  const { description } = isJsonObject(value) ? value : {};
  const messages = (await restoreFiles(door, listOf(value, "messages"))).map((one) => showMessage(one, door));
  return { ...(typeof description === "string" && { description: clean(description) }), messages };
}

/** Text is cleaned for a model; bytes are not changed. */
function showContent(entry: JsonObject, gateway = { escapeHtml: false }): JsonObject {
  const { text } = entry;
  return typeof text === "string" ? { ...entry, text: showText(text, gateway) } : entry;
}

function showMessage(message: JsonObject, { gateway }: McpDoor): JsonObject {
  const { content } = message;
  if (!isJsonObject(content)) return message;
  const { resource } = content;
  const inner = isJsonObject(resource) && { resource: showContent(resource) };
  return { ...message, content: { ...showContent(content, gateway), ...inner } };
}

interface Listing {
  readonly method: keyof typeof OPENED_BY;
  /** The field of the answer with the list. */
  readonly list: string;
  readonly signal: AbortSignal;
}

/** Makes no call and records no execution if no server offers the list. */
async function collect(
  { gateway, principal }: McpDoor,
  { method, list, signal }: Listing,
  rename: (entry: JsonObject, namespace: string) => JsonObject | undefined,
): Promise<readonly JsonObject[]> {
  const { tools, hidden = new Map<string, Tool>() } = await gateway.takeSnapshot(principal);
  const closed = [...hidden.values()].filter(({ origin }) => origin.remoteName === OPENED_BY[method]).map(namespaceOf);
  const offered = [...tools.values()].filter(
    (tool) => tool.origin.remoteName === method && !closed.includes(namespaceOf(tool)),
  );
  if (offered.length === 0) return [];
  const calls = offered.map(({ address }) => ({ address, args: {} }));
  const { replies } = await gateway.callTools({ principal, calls, signal });
  return replies.flatMap((reply, index) => {
    const namespace = namespaceOf(offered[index]);
    if (!reply.ok || namespace === undefined) return [];
    const entries = listOf(parseJson(reply.json), list).filter(hasName).slice(0, MAX_LISTED);
    return entries.map((entry) => rename(entry, namespace)).filter((entry) => entry !== undefined);
  });
}

/** Also finds a tool that policy hides: the bridge refuses it and records the refusal. */
async function findTool({ gateway, principal }: McpDoor, place: UpstreamPlace, method: Method) {
  const { tools, hidden = new Map<string, Tool>() } = await gateway.takeSnapshot(principal);
  return [...tools.values(), ...hidden.values()].find(
    (tool) => tool.origin.remoteName === method && namespaceOf(tool) === place.namespace,
  );
}

async function callOne(
  { gateway, principal }: McpDoor,
  { address }: Tool,
  { args, signal }: { readonly args: JsonObject; readonly signal: AbortSignal },
): Promise<Json> {
  const { result, replies } = await gateway.callTools({ principal, calls: [{ address, args }], signal });
  const [reply] = replies;
  if (reply?.ok) return parseJson(reply.json);
  const { code, message } = result.error ?? { code: "INTERNAL_BUG", message: "Internal error" };
  throw new ProtocolError(ProtocolErrorCode.InternalError, `${code}: ${message}`);
}

/** Content with another URI than the requested one is a part of it and keeps its own URI. */
function toOwnUri(entry: JsonObject, { namespace, own }: UpstreamPlace, asked: string): string {
  const { uri } = entry;
  return typeof uri !== "string" || uri === own ? asked : toResourceUri(namespace, uri);
}

function namespaceOf(tool: Tool | undefined): string | undefined {
  return tool?.address.split(".")[0];
}

/** Any JSON is a value. */
function parseJson(json: string): Json {
  const value: Json = JSON.parse(json);
  return value;
}

function listOf(value: Json, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter((entry: Json) => isJsonObject(entry)) : [];
}

/** Drops entries without it, because clients validate the whole list at once. */
function hasName(entry: JsonObject): boolean {
  return nameOf(entry) !== "";
}

function nameOf({ name }: JsonObject): string {
  return typeof name === "string" ? name : "";
}

/** The cleaned text fields of an entry. Other fields are not copied. */
function pickTexts(entry: JsonObject): JsonObject {
  const picked: Record<string, Json> = {};
  for (const field of TEXTS) {
    const text = entry[field];
    if (typeof text === "string") picked[field] = clean(text);
  }
  return picked;
}

function clean(text: string): string {
  return cleanText(text, { maxBytes: TEXT_BYTES });
}
