/** Finds out what a person pasted: the JSON of a client, a command, a URL, or an OpenAPI document. */

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";

/** Entries by name, as a client would write them. An empty name is chosen later. */
export interface PastedServers {
  readonly section: "mcpServers" | "openapi";
  readonly entries: JsonObject;
  /** True if only a connection tells whether a URL is a server or an API. */
  readonly isGuess: boolean;
}

const SECTIONS = ["mcpServers", "servers", "context_servers", "mcp", "mcp_servers", "extensions"];
const DOCUMENT = /(?:\.(?:json|ya?ml)|openapi|swagger|api-docs)[^/]*$/i;
/** Runners of packages: the name of the package is the name of the server. */
const RUNNERS = new Set(["npx", "bunx", "uvx", "pipx", "pnpm", "yarn", "docker", "podman", "node", "deno", "python"]);
const RUNNER_WORDS = new Set(["-y", "--yes", "-i", "--rm", "dlx", "run", "exec", "-m", "--"]);

/** Names of files and folders that say nothing about a server. */
const ENTRY_FILES = new Set(["index", "main", "server", "dist", "build", "src", "lib", "bin", "."]);
const GENERIC_LABELS = new Set(["www", "mcp", "api"]);

export function readPaste(words: readonly string[]): PastedServers {
  const [first = "", ...rest] = words;
  const text = words.join(" ").trim();
  if (text.startsWith("{")) return { section: "mcpServers", entries: readClientJson(text), isGuess: false };
  if (/^https?:\/\//i.test(first) && rest.length === 0) {
    const isDocument = DOCUMENT.test(new URL(first).pathname);
    const entry = isDocument ? { document: first } : { url: first };
    return { section: isDocument ? "openapi" : "mcpServers", entries: { [nameUrl(first)]: entry }, isGuess: true };
  }
  if (rest.length === 0 && /\.(?:json|ya?ml)$/i.test(first))
    return { section: "openapi", entries: { [nameFile(first)]: { document: first } }, isGuess: false };
  const all = rest.length === 0 ? first.split(/\s+/) : words;
  const [command = "", ...args] = all;
  if (command === "") throw refuse("Nothing was pasted");
  return { section: "mcpServers", entries: { [nameCommand(command, args)]: { command, args } }, isGuess: false };
}

/** The file of a client, its section with servers, or one entry. */
function readClientJson(text: string): JsonObject {
  const value = parse(text);
  const section = SECTIONS.map((key) => value[key]).find((one) => isJsonObject(one));
  const servers = isJsonObject(section) ? section : value;
  if (isEntry(servers)) return { [nameEntry(servers)]: servers };
  if (Object.values(servers).some(isEntry)) return servers;
  throw refuse("The JSON has no server");
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw refuse(`The JSON cannot be parsed: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  throw refuse("The JSON is not an object");
}

function refuse(message: string, cause?: unknown): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, {
    cause,
    hint: "Paste a URL, a command such as `npx -y PACKAGE`, the JSON of a client, or the path or URL of an OpenAPI document",
  });
}

function isEntry(value: Json): boolean {
  return isJsonObject(value) && ["command", "cmd", "url", "httpUrl", "serverUrl"].some((key) => key in value);
}

function nameEntry({ name, command, args, url }: JsonObject): string {
  if (typeof name === "string" && name !== "") return name;
  if (typeof url === "string" && URL.canParse(url)) return nameUrl(url);
  const words = Array.isArray(args) ? args.filter((word: Json) => typeof word === "string") : [];
  return typeof command === "string" ? nameCommand(command, words) : "server";
}

/** `https://mcp.example.com/github/mcp` becomes `github`, and `https://mcp.example.com/mcp` becomes `example`. */
function nameUrl(text: string): string {
  const { pathname, hostname } = new URL(text);
  const parts = pathname
    .split("/")
    .filter((part) => part !== "" && !/^(?:mcp|sse|v\d+|api|openapi.*|swagger.*)$/i.test(part));
  const labels = hostname.split(".");
  const named = labels.slice(0, Math.max(1, labels.length - 1)).find((label) => !GENERIC_LABELS.has(label));
  return toName(parts.at(-1)?.replace(/\.(?:json|ya?ml)$/i, "") ?? named ?? hostname);
}

function nameFile(path: string): string {
  return toName((path.split(/[\\/]/).at(-1) ?? "").replace(/\.(?:json|ya?ml)$/i, ""));
}

/** `npx -y @modelcontextprotocol/server-filesystem@1 .` becomes `filesystem`. */
function nameCommand(command: string, args: readonly string[]): string {
  const program = (command.split(/[\\/]/).at(-1) ?? "").replace(/\.(?:exe|cmd)$/i, "");
  const target = RUNNERS.has(program)
    ? args.find((word) => !RUNNER_WORDS.has(word) && !word.startsWith("-"))
    : undefined;
  const parts = (target ?? program).replace(/(?<=.)@[^@/]*$/, "").split(/[\\/]/);
  const names = parts.map((part) => part.replace(/:[^:]*$/, "").replace(/\.[cm]?[jt]s$|\.py$/, ""));
  return toName(names.findLast((name) => name !== "" && !ENTRY_FILES.has(name)) ?? "");
}

function toName(text: string): string {
  const plain = text.replace(/^(?:mcp[-_]server[-_]|server[-_]|mcp[-_])|[-_](?:mcp[-_]server|mcp|server)$/gi, "");
  return plain.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "") || "server";
}
