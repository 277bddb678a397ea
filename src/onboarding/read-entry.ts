/** Turns one server, as a client wrote it, into an entry of our configuration. */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import { createEntryReader } from "./entry-reader.ts";
import type { EntryReader } from "./entry-reader.ts";
import { toText } from "./translate-references.ts";
import type { ReferenceOptions } from "./translate-references.ts";

export interface ImportedEntry {
  readonly entry: JsonObject;
  /** What has no counterpart in our configuration, for the person. */
  readonly warnings: readonly string[];
  /** Secrets that the client asks a person for, and that have no value yet. */
  readonly missingSecrets: readonly string[];
}

interface StartedServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: JsonObject;
}

/** Keys that say nothing about a connection. */
const IGNORED = new Set(["name", "description", "title", "tags", "icon", "gallery", "version", "source", "$schema"]);
const RULES = "write rules in policy.rules";
const CALL_LIMIT = "the limit of a call is sandbox.limits.callMs";
const LOGIN = "log in with `glovebox servers login`";
/** Keys with a counterpart elsewhere. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...["alwaysAllow", "always_allow", "autoApprove", "trust"].map((key) => [key, RULES] as const),
  ...["tools", "includeTools", "excludeTools", "available_tools"].map((key) => [key, RULES] as const),
  ...["enabled_tools", "disabled_tools", "disabledTools"].map((key) => [key, RULES] as const),
  ...["timeout", "tool_timeout_sec"].map((key) => [key, CALL_LIMIT] as const),
  ...["oauth", "auth", "authProviderType"].map((key) => [key, LOGIN] as const),
  ["envFile", "copy its variables to env"],
  ["env_keys", "set them with `glovebox secrets set NAME` and write ${secret:NAME} in env"],
]);
const SECOND_MS = 1000;

/** Returns the reason instead if the entry is not a server that Glovebox can connect to. */
export function readEntry(raw: Json, options: ReferenceOptions): ImportedEntry | string {
  if (!isJsonObject(raw)) return "it is not an object";
  const reader = createEntryReader(raw, options);
  const command = readCommand(reader);
  const url = reader.text("url", "httpUrl", "serverUrl", "baseUrl", "uri", "endpoint");
  if (!command && url === undefined) return "it has neither a command nor a URL";
  const isDisabled = reader.find("disabled") === true || reader.find("enabled") === false;
  const startup = reader.find("startup_timeout_sec");
  const entry = {
    ...(command ? toLocal(command, reader) : toRemote(url ?? "", reader)),
    ...(isDisabled && { disabled: true }),
    ...(typeof startup === "number" && { startupTimeoutMs: Math.round(startup * SECOND_MS) }),
  };
  return { entry, warnings: [...reader.notes(), ...explainUnread(reader)], missingSecrets: reader.inputs() };
}

/** The command is a string, an array with the arguments, or an object. */
function readCommand({ find, translate }: EntryReader): StartedServer | undefined {
  const value = find("command", "cmd");
  const given = find("args");
  const args = Array.isArray(given) ? given.map((word: Json) => translate(word)) : [];
  const words = typeof value === "string" && value !== "" ? splitCommand(value) : value;
  if (Array.isArray(words)) {
    const [first, ...rest] = words.map((word: Json) => translate(word));
    return first === undefined ? undefined : { command: first, args: [...rest, ...args], env: {} };
  }
  if (!isJsonObject(value) || typeof value["path"] !== "string") return undefined;
  const { path, args: inner, env } = value;
  const ownArgs = Array.isArray(inner) ? inner.map((word: Json) => translate(word)) : [];
  return { command: translate(path), args: ownArgs, env: isJsonObject(env) ? env : {} };
}

/** Some clients split `npx -y PACKAGE`. A path may have spaces. */
function splitCommand(text: string): Json[] {
  return /^[\w.-]+ [^"'\\]*$/.test(text) ? text.split(/\s+/) : [text];
}

function toLocal({ command, args, env }: StartedServer, { find, text, pairs }: EntryReader): JsonObject {
  const cwd = text("cwd", "workingDirectory");
  const passed = find("env_vars");
  const names = Array.isArray(passed) ? passed.map((name: Json) => [toText(name), toVariable(name)]) : [];
  const own = { ...env, ...Object.fromEntries(names), ...pairs("env", "envs", "environment") };
  find("type", "transport");
  return {
    command,
    ...(args.length > 0 && { args: [...args] }),
    ...(cwd !== undefined && { cwd }),
    ...(Object.keys(own).length > 0 && { env: own }),
  };
}

function toRemote(url: string, { find, pairs }: EntryReader): JsonObject {
  const type = find("type", "transport");
  const nested = find("requestOptions");
  const inner = isJsonObject(nested) && isJsonObject(nested["headers"]) ? nested["headers"] : {};
  const token = find("bearer_token_env_var");
  const named = find("env_http_headers");
  const fromVariables = Object.entries(isJsonObject(named) ? named : {}).map(([key, name]) => [key, toVariable(name)]);
  const headers = {
    ...inner,
    ...pairs("headers", "http_headers"),
    ...(token !== undefined && { Authorization: `Bearer ${toVariable(token)}` }),
    ...Object.fromEntries(fromVariables),
  };
  return {
    ...(typeof type === "string" && type.toLowerCase() === "sse" && { type: "sse" }),
    url,
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

/** A variable that is not set is an empty string. */
function toVariable(name: Json): string {
  return `\${${toText(name)}:-}`;
}

function explainUnread(reader: EntryReader): readonly string[] {
  const keys = reader.unread().filter((key) => !IGNORED.has(key));
  return keys.map((key) => `the key ${key} is left out: ${ELSEWHERE.get(key) ?? "it is unknown"}`);
}
