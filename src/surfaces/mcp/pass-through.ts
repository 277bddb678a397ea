/**
 * Resources and prompts of upstreams. Connectors offer them as tools (`resources/list`, …), so each request is a call of
 * these tools through the bridge: policy, limits and ledger apply. Kept results are resources of Glovebox itself.
 */

import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";

import { GloveboxError, defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, JsonObject, Tool } from "../../domain/index.ts";
import { cleanText } from "../../text/index.ts";
import type { McpDoor } from "../gateway.ts";
import { parsePromptName, parseResourceUri, toPromptName, toResourceUri, toTemplateUri } from "./addresses.ts";
import type { UpstreamPlace } from "./addresses.ts";
import { restoreFiles } from "./files.ts";
import type { PASSED_THROUGH } from "./plain-tools.ts";
import { readSkillFile } from "./serve-skills.ts";
import { showText } from "./show-text.ts";

/** The namespace of kept results; no upstream can have it. */
const KEPT = "glovebox";
/** A larger kept result must be read in parts. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The tool that reads the entries of a list. If policy denies it, the list is not shown. */
const OPENED_BY = { "resources/list": "resources/read", "prompts/list": "prompts/get" } as const;
const MAX_LISTED = 1_000;
const TEXT_BYTES = 4_096;
const TEXTS = ["name", "title", "description", "mimeType"] as const;

/** The resources of all servers, without those that fail. */
export async function listResources(door: McpDoor, signal: AbortSignal): Promise<readonly JsonObject[]> {
  return collect(door, { method: "resources/list", list: "resources", signal }, (entry, namespace) => {
    const { uri, size } = entry;
    if (typeof uri !== "string") return [];
    return [{ ...pickTexts(entry), ...(typeof size === "number" && { size }), uri: toResourceUri(namespace, uri) }];
  });
}

/** The resource templates of all servers. */
export async function listTemplates(door: McpDoor, signal: AbortSignal): Promise<readonly JsonObject[]> {
  return collect(door, { method: "resources/list", list: "templates", signal }, (entry, namespace) => {
    const { uriTemplate } = entry;
    if (typeof uriTemplate !== "string") return [];
    return [{ ...pickTexts(entry), uriTemplate: toTemplateUri(namespace, uriTemplate) }];
  });
}

/** The prompts of all servers, with names prefixed by the namespace. */
export async function listPrompts(door: McpDoor, signal: AbortSignal): Promise<readonly JsonObject[]> {
  return collect(door, { method: "prompts/list", list: "prompts", signal }, (entry, namespace) => {
    const { mimeType: _, ...texts } = pickTexts(entry);
    const args = listOf(entry, "arguments").map((argument) => {
      const { required } = argument;
      return { ...pickTexts(argument), ...(typeof required === "boolean" && { required }) };
    });
    const named = args.length > 0 && { arguments: args.filter(hasName) };
    return [{ ...texts, ...named, name: toPromptName(namespace, nameOf(entry)) }];
  });
}

/** Rejects with a protocol error if the resource does not exist or its server fails. */
export async function readResource(door: McpDoor, uri: string, signal: AbortSignal): Promise<JsonObject> {
  const file = await readSkillFile(door, uri, signal);
  if (file) return { contents: file };
  const place = parseResourceUri(uri);
  if (place?.namespace === KEPT) return { contents: [{ uri, ...(await readKept(door, place.own, uri)) }] };
  const value =
    place && (await callMethod(door, place, { method: "resources/read", args: { uri: place.own }, signal }));
  if (!place || value === undefined) throw new ResourceNotFoundError(uri);
  const contents = await restoreFiles(door, listOf(value, "contents"));
  return {
    contents: contents.map((entry) => {
      const { uri: part } = entry;
      // Content with another URI than the requested one is a part of it and keeps its own URI.
      const isPart = typeof part === "string" && part !== place.own;
      return { ...showContent(entry), uri: isPart ? toResourceUri(place.namespace, part) : uri };
    }),
  };
}

/** Rejects like an unknown resource if the kept result belongs to another principal or has expired. */
async function readKept({ gateway, principal }: McpDoor, handle: string, uri: string): Promise<JsonObject> {
  try {
    const first = await gateway.readResult(principal, handle, {});
    const { mimeType, bytes, shape } = first.summary;
    const isFile = shape === "";
    const isPage = isFile && first.next !== undefined;
    const { value, next } = isPage ? await gateway.readResult(principal, handle, { limit: MAX_BYTES }) : first;
    if (bytes > MAX_BYTES || (isFile && next !== undefined)) {
      const text = `The result has ${bytes} bytes, too many for a resource: read it in parts with resume({ handle: "${handle}", offset, limit }).`;
      return { mimeType: "text/plain", text };
    }
    if (!isFile) return { mimeType, text: JSON.stringify(value) };
    const base64 = isJsonObject(value) ? value["base64"] : undefined;
    return { mimeType, blob: typeof base64 === "string" ? base64 : "" };
  } catch (thrown) {
    if (thrown instanceof GloveboxError && thrown.code === "REQUEST_NOT_FOUND") throw new ResourceNotFoundError(uri);
    throw thrown;
  }
}

/** Rejects with a protocol error if the prompt does not exist or its server fails. */
export async function getPrompt(
  door: McpDoor,
  { name, args }: { readonly name: string; readonly args: JsonObject },
  signal: AbortSignal,
): Promise<JsonObject> {
  const place = parsePromptName(name);
  const request = { method: "prompts/get", args: { name: place?.own ?? "", arguments: args }, signal } as const;
  const value = place && (await callMethod(door, place, request));
  if (value === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
  const { description } = isJsonObject(value) ? value : {};
  const messages = (await restoreFiles(door, listOf(value, "messages"))).map((one) => showMessage(one, door));
  return { ...defined({ description: typeof description === "string" ? clean(description) : undefined }), messages };
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

/** Reads `list` of the answers. Makes no call and records no execution if no server offers the method. */
async function collect(
  { gateway, principal }: McpDoor,
  {
    method,
    list,
    signal,
  }: { readonly method: keyof typeof OPENED_BY; readonly list: string; readonly signal: AbortSignal },
  rename: (entry: JsonObject, namespace: string) => readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const { tools, hidden = new Map<string, Tool>() } = await gateway.takeSnapshot(principal, "some");
  const closed = [...hidden.values()].filter(({ origin }) => origin.remoteName === OPENED_BY[method]).map(namespaceOf);
  const offered = [...tools.values()].filter(
    (tool) => tool.origin.remoteName === method && !closed.includes(namespaceOf(tool)),
  );
  if (offered.length === 0) return [];
  const calls = offered.map(({ address }) => ({ address, args: {} }));
  const { replies } = await gateway.callTools({ principal, calls, signal });
  return offered.flatMap((tool, index) => {
    const reply = replies[index];
    if (!reply?.ok) return [];
    const entries = listOf(parseJson(reply.json), list).filter(hasName).slice(0, MAX_LISTED);
    return entries.flatMap((entry) => rename(entry, namespaceOf(tool)));
  });
}

/**
 * Returns `undefined` if the server does not offer the method. Also calls a tool that policy hides: the bridge refuses
 * it and records the refusal.
 */
async function callMethod(
  { gateway, principal }: McpDoor,
  { namespace }: UpstreamPlace,
  request: {
    readonly method: (typeof PASSED_THROUGH)[number];
    readonly args: JsonObject;
    readonly signal: AbortSignal;
  },
): Promise<Json | undefined> {
  const { method, args, signal } = request;
  const { tools, hidden = new Map<string, Tool>() } = await gateway.takeSnapshot(principal, [namespace]);
  const tool = [...tools.values(), ...hidden.values()].find(
    (tool) => tool.origin.remoteName === method && namespaceOf(tool) === namespace,
  );
  if (!tool) return undefined;
  const calls = [{ address: tool.address, args }];
  const { result, replies } = await gateway.callTools({ principal, calls, signal });
  const [reply] = replies;
  if (reply?.ok) return parseJson(reply.json) ?? null;
  const { code, message } = result.error ?? { code: "INTERNAL_BUG", message: "Internal error" };
  throw new ProtocolError(ProtocolErrorCode.InternalError, `${code}: ${message}`);
}

function namespaceOf({ address }: Tool): string {
  return address.slice(0, address.indexOf("."));
}

function listOf(value: Json | undefined, field: string): readonly JsonObject[] {
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
  const texts = TEXTS.map((field) => [field, entry[field]] as const);
  return Object.fromEntries(texts.flatMap(([field, text]) => (typeof text === "string" ? [[field, clean(text)]] : [])));
}

function clean(text: string): string {
  return cleanText(text, { maxBytes: TEXT_BYTES });
}
