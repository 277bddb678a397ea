/** Checks that the schema cannot express: keys that depend on each other, and names of keys. */

import { isJsonObject, parseConnectorId } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { checkPatterns, checkRules } from "./check-rules.ts";
import { expandText } from "../expand-references.ts";
import type { EnvironmentVariables } from "../expand-references.ts";
import { isHttpUrl, isSyslogUrl } from "../formats.ts";
import { quote } from "../problems.ts";
import type { KeyPath, Problems } from "../problems.ts";
import { toObject } from "./report-issues.ts";
import { isGrantable } from "./sandbox-schema.ts";

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110 §5.6.2
const SCHEME_NAME = /^[^\0]+$/;
const ENV_NAME = /^[^=\0]+$/;
const BAD_IN_HEADER = /[\0\r\n]/;
const BAD_IN_ENV = /\0/;

const COMMAND_KEYS = ["args", "env", "cwd", "files", "confine", "limits", "installScripts"] as const;
const URL_KEYS = ["headers", "oauth"] as const;
const CONFINED_KEYS = ["networkPolicy", "limits", "installScripts"] as const;

interface RelationContext {
  readonly environment: EnvironmentVariables;
  readonly problems: Problems;
}

/** Accepts a configuration that violates the schema, so that all problems are reported at once. */
export function checkRelations(config: Json, environment: EnvironmentVariables, problems: Problems): void {
  if (!isJsonObject(config)) return;
  const context = { environment, problems };
  for (const [path, server] of entriesOf(config, "mcpServers")) {
    checkName(path, problems);
    if (isJsonObject(server)) checkServer(server, path, context);
  }
  for (const [path, api] of entriesOf(config, "openapi")) {
    checkName(path, problems);
    if (Object.hasOwn(toObject(config["mcpServers"]), String(path[1]))) problems.refuseKey(path, NAME_TAKEN);
    if (isJsonObject(api)) checkApi(api, path, context);
  }
  for (const [path, entry] of itemsOf(toObject(config["audit"]), "export", ["audit"])) {
    if (isJsonObject(entry)) checkExport(entry, path, context);
  }
  checkHeaders(toObject(config["traces"]), ["traces"], context);
  const { rules, effects } = toObject(config["policy"]);
  if (Array.isArray(rules)) checkRules(rules, { path: ["policy", "rules"], origin: "configuration" }, problems);
  checkPatterns(toObject(effects), ["policy", "effects"], problems);
  checkPatterns(toObject(toObject(config["quotas"])["prices"]), ["quotas", "prices"], problems);
  checkNetworkPolicies(config, problems);
  checkProxy(toObject(config["egress"]), problems);
  checkSecrets(toObject(config["sandbox"]), problems);
}

type Entry = readonly [path: KeyPath, entry: Json];

function entriesOf(parent: JsonObject, key: string, path: KeyPath = []): readonly Entry[] {
  return Object.entries(toObject(parent[key])).map(([name, entry]) => [[...path, key, name], entry]);
}

function itemsOf(parent: JsonObject, key: string, path: KeyPath = []): readonly Entry[] {
  const items = parent[key];
  return Array.isArray(items) ? items.map((item: Json, index) => [[...path, key, index], item]) : [];
}

/** A secret can only be sent in a request, so a grant is useless without a network. */
function checkSecrets({ networkPolicy = {}, secrets }: JsonObject, problems: Problems): void {
  if (!isJsonObject(networkPolicy)) return;
  const { mode = "blocked" } = networkPolicy;
  for (const name of Object.keys(toObject(secrets))) {
    const refuse = (message: string): void => problems.refuseKey(["sandbox", "secrets", name], message);
    if (!isGrantable(name)) refuse("expected the name of a secret: letters, digits and _, not starting with a digit");
    if (mode === "blocked") refuse('has an effect only with sandbox.networkPolicy.mode "allowed" or "unrestricted"');
  }
}

const NAME_TAKEN = "an entry of mcpServers has the same name; use different names";

function checkName(path: KeyPath, problems: Problems): void {
  if (parseConnectorId(path.at(-1)) !== undefined) return;
  problems.refuseKey(path, "expected a name of 1 to 256 characters without control characters");
}

/** A URL with a scheme that cannot be fetched. A drive letter does not match. */
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

function checkApi(api: JsonObject, path: KeyPath, context: RelationContext): void {
  const { document } = api;
  if (typeof document === "string" && OTHER_SCHEME.test(document) && !isHttpUrl(document)) {
    const message = "expected a path, or an http or https URL without user name and password";
    context.problems.refuse([...path, "document"], message);
  }
  checkHeaders(api, path, context);
  checkTexts(api["auth"], [...path, "auth"], { ...context, name: SCHEME_NAME, bad: BAD_IN_HEADER });
}

function checkServer(server: JsonObject, path: KeyPath, context: RelationContext): void {
  const { command, url, type } = server;
  const refuse = (message: string, ...key: string[]): void => context.problems.refuseKey([...path, ...key], message);
  if (command === undefined && url === undefined)
    return refuse("expected command (Glovebox starts the server) or url (the server is reached over HTTP)");
  if (command !== undefined && url !== undefined)
    return refuse("cannot be used together with command; remove one of them", "url");
  if (command !== undefined && typeof type === "string" && type !== "stdio")
    refuse(`${quote(type)} needs url, but the entry has command; remove type`, "type");
  if (url !== undefined && type === "stdio")
    refuse('"stdio" needs command, but the entry has url; remove type', "type");
  const [strangers, needed] = url === undefined ? [URL_KEYS, "url"] : [COMMAND_KEYS, "command"];
  for (const key of strangers) if (server[key] !== undefined) refuse(`has an effect only together with ${needed}`, key);
  const isConfined = server["confine"] === "files" || server["confine"] === "strict";
  for (const key of url === undefined && !isConfined ? CONFINED_KEYS : [])
    if (server[key] !== undefined) refuse('has an effect only with url, or with confine "files" or "strict"', key);
  checkTexts(server["env"], [...path, "env"], { ...context, name: ENV_NAME, bad: BAD_IN_ENV });
  checkHeaders(server, path, context);
  const { clientId, clientSecret } = toObject(server["oauth"]);
  if (clientSecret !== undefined && clientId === undefined)
    refuse("has an effect only together with clientId", "oauth", "clientSecret");
}

function checkHeaders({ headers }: JsonObject, path: KeyPath, context: RelationContext): void {
  checkTexts(headers, [...path, "headers"], { ...context, name: HEADER_NAME, bad: BAD_IN_HEADER });
}

/** Refuses line breaks in headers here, where the message can name the key: they would start another header. */
function checkTexts(
  texts: Json | undefined,
  path: KeyPath,
  { environment, problems, name, bad }: RelationContext & { readonly name: RegExp; readonly bad: RegExp },
): void {
  for (const [key, text] of Object.entries(toObject(texts))) {
    if (!name.test(key)) problems.refuseKey([...path, key], `not a valid name for an entry of ${String(path.at(-1))}`);
    if (typeof text !== "string") continue;
    const { parts } = expandText(text, environment);
    if (parts.some((part) => typeof part === "string" && bad.test(part)))
      problems.refuse([...path, key], "contains a line break or NUL character, or a variable in it does");
  }
}

const EXPORT_KEYS: ReadonlyMap<Json | undefined, readonly string[]> = new Map([
  ["file", ["path"]],
  ["syslog", ["url"]],
  ["otlp", ["url", "headers"]],
]);

/** Each kind of export has different keys and a different kind of URL. */
function checkExport(entry: JsonObject, path: KeyPath, context: RelationContext): void {
  const { problems } = context;
  const { kind, url } = entry;
  const own = EXPORT_KEYS.get(kind);
  if (own) {
    const [needed = ""] = own;
    if (entry[needed] === undefined) problems.refuseKey(path, `expected ${needed}`);
    for (const key of ["path", "url", "headers"].filter((name) => entry[name] !== undefined && !own.includes(name)))
      problems.refuseKey([...path, key], "has no effect with this kind of export");
    const isOther = typeof url === "string" && (kind === "syslog" ? isHttpUrl(url) : isSyslogUrl(url));
    if (isOther) problems.refuse([...path, "url"], `not a valid URL for ${JSON.stringify(kind)}`);
  }
  checkHeaders(entry, path, context);
}

const ONE_REFERENCE = /^\$\{(?:secret:)?[A-Za-z0-9_]+\}$/;

/** A proxy's credentials need each other, and the password must not be in the file. */
function checkProxy({ proxy, proxyUser, proxyPassword }: JsonObject, problems: Problems): void {
  const refuse = (key: string, message: string): void => problems.refuseKey(["egress", key], message);
  if (proxyUser !== undefined && proxy === undefined) refuse("proxyUser", "has an effect only together with proxy");
  if (proxyUser !== undefined && proxyPassword === undefined) refuse("proxyUser", "needs proxyPassword");
  if (proxyPassword === undefined) return;
  if (proxyUser === undefined) refuse("proxyPassword", "has an effect only together with proxyUser");
  if (typeof proxyPassword === "string" && !ONE_REFERENCE.test(proxyPassword))
    refuse("proxyPassword", "expected exactly one ${secret:NAME} or ${VARIABLE}");
}

/** Refuses a key of a network policy that has no effect in its mode: the operator expects one. */
function checkNetworkPolicies(config: JsonObject, problems: Problems): void {
  const withTools = (entries: readonly Entry[]): readonly Entry[] => [
    ...entries,
    ...entries.flatMap(([path, entry]) => entriesOf(toObject(entry), "tools", path)),
  ];
  const entries: readonly Entry[] = [
    ...["sandbox", "egress"].map((key): Entry => [[key], config[key] ?? null]),
    ...entriesOf(config, "mcpServers"),
    ...withTools(entriesOf(config, "openapi")),
    ...withTools(itemsOf(config, "adapters")),
  ];
  for (const [path, entry] of entries) {
    const { mode = "blocked", domains, grants } = toObject(toObject(entry)["networkPolicy"]);
    const refuse = (key: string, message: string): void => problems.refuseKey([...path, "networkPolicy", key], message);
    if (domains !== undefined && mode !== "allowed") refuse("domains", 'has an effect only with mode "allowed"');
    if (grants !== undefined && mode === "blocked")
      refuse("grants", 'has an effect only with mode "allowed" or "unrestricted"');
  }
}
