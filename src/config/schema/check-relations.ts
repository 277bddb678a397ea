/** Checks that the schema cannot express: keys that depend on each other, and names of keys. */

import { isJsonObject, parseConnectorId } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { checkNetworkPolicies, checkProxy } from "./check-network.ts";
import { checkPatterns, checkRules } from "./check-rules.ts";
import { expandText } from "../expand-references.ts";
import type { EnvironmentVariables } from "../expand-references.ts";
import { isHttpUrl, isSyslogUrl } from "../formats.ts";
import { quote } from "../problems.ts";
import { isGrantable } from "./secrets-schema.ts";
import type { KeyPath, Problems } from "../problems.ts";

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110 §5.6.2
const SCHEME_NAME = /^[^\0]+$/;
const ENV_NAME = /^[^=\0]+$/;
const BAD_IN_HEADER = /[\0\r\n]/;
const BAD_IN_ENV = /\0/;

const COMMAND_KEYS = ["args", "env", "cwd"] as const;
const URL_KEYS = ["headers", "oauth", "networkPolicy"] as const;

/** Accepts a configuration that violates the schema, so that all problems are reported at once. */
export function checkRelations(config: Json, environment: EnvironmentVariables, problems: Problems): void {
  if (!isJsonObject(config)) return;
  const { audit, mcpServers, openapi, policy, quotas, traces } = config;
  const servers = isJsonObject(mcpServers) ? mcpServers : {};
  for (const [name, server] of Object.entries(servers)) {
    checkName(["mcpServers", name], problems);
    if (isJsonObject(server)) checkServer(server, ["mcpServers", name], { environment, problems });
  }
  for (const [name, api] of Object.entries(isJsonObject(openapi) ? openapi : {})) {
    checkName(["openapi", name], problems);
    if (Object.hasOwn(servers, name)) problems.report({ path: ["openapi", name], anchor: "key", message: NAME_TAKEN });
    if (isJsonObject(api)) checkApi(api, ["openapi", name], { environment, problems });
  }
  if (isJsonObject(audit) && Array.isArray(audit["export"])) checkExports(audit["export"], { environment, problems });
  if (isJsonObject(traces)) {
    const rules = { environment, problems, name: HEADER_NAME, bad: BAD_IN_HEADER };
    checkEntries(traces["headers"], ["traces", "headers"], rules);
  }
  if (isJsonObject(policy)) checkPolicy(policy, problems);
  const prices = isJsonObject(quotas) ? quotas["prices"] : undefined;
  if (isJsonObject(prices)) checkPatterns(prices, ["quotas", "prices"], problems);
  checkNetworkPolicies(config, problems);
  checkProxy(config, problems);
  const { networkPolicy = {}, secrets } = isJsonObject(config["sandbox"]) ? config["sandbox"] : {};
  if (isJsonObject(secrets) && isJsonObject(networkPolicy)) checkSecrets(secrets, networkPolicy, problems);
}

/** A secret can only be sent in a request, so a grant is useless without a network. */
function checkSecrets(secrets: JsonObject, { mode = "blocked" }: JsonObject, problems: Problems): void {
  for (const name of Object.keys(secrets)) {
    const refuse = (message: string): void =>
      problems.report({ path: ["sandbox", "secrets", name], anchor: "key", message });
    if (!isGrantable(name)) refuse("expected the name of a secret: letters, digits and _, not starting with a digit");
    if (mode === "blocked") refuse('has an effect only with sandbox.networkPolicy.mode "allowed" or "unrestricted"');
  }
}

function checkPolicy({ rules, effects }: JsonObject, problems: Problems): void {
  const path = ["policy", "rules"];
  if (Array.isArray(rules)) checkRules(rules, { path, origin: "configuration" }, problems);
  if (isJsonObject(effects)) checkPatterns(effects, ["policy", "effects"], problems);
}

const NAME_TAKEN = "an entry of mcpServers has the same name; use different names";

function checkName(path: readonly [string, string], problems: Problems): void {
  if (parseConnectorId(path[1]) !== undefined) return;
  const message = "expected a name of 1 to 256 characters without control characters";
  problems.report({ path, anchor: "key", message });
}

/** A URL with a scheme that cannot be fetched. A drive letter does not match. */
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

function checkApi(api: JsonObject, path: KeyPath, context: RelationContext): void {
  const { document } = api;
  if (typeof document === "string" && OTHER_SCHEME.test(document) && !isHttpUrl(document)) {
    const message = "expected a path, or an http or https URL without user name and password";
    context.problems.report({ path: [...path, "document"], anchor: "value", message });
  }
  checkEntries(api["headers"], [...path, "headers"], { ...context, name: HEADER_NAME, bad: BAD_IN_HEADER });
  checkEntries(api["auth"], [...path, "auth"], { ...context, name: SCHEME_NAME, bad: BAD_IN_HEADER });
}

interface RelationContext {
  readonly environment: EnvironmentVariables;
  readonly problems: Problems;
}

function checkServer(server: JsonObject, path: KeyPath, context: RelationContext): void {
  const { command, url, type } = server;
  const refuse = (key: string | undefined, message: string): void =>
    context.problems.report({ path: key === undefined ? path : [...path, key], anchor: "key", message });
  if (command === undefined && url === undefined) {
    refuse(undefined, "expected command (Glovebox starts the server) or url (the server is reached over HTTP)");
    return;
  }
  if (command !== undefined && url !== undefined)
    return refuse("url", "cannot be used together with command; remove one of them");
  if (command !== undefined && typeof type === "string" && type !== "stdio") {
    refuse("type", `${quote(type)} needs url, but the entry has command; remove type`);
  }
  if (url !== undefined && type === "stdio")
    refuse("type", '"stdio" needs command, but the entry has url; remove type');
  const [strangers, needed] = url === undefined ? [URL_KEYS, "url"] : [COMMAND_KEYS, "command"];
  for (const key of strangers) if (server[key] !== undefined) refuse(key, `has an effect only together with ${needed}`);
  checkEntries(server["env"], [...path, "env"], { ...context, name: ENV_NAME, bad: BAD_IN_ENV });
  checkEntries(server["headers"], [...path, "headers"], { ...context, name: HEADER_NAME, bad: BAD_IN_HEADER });
  const { oauth } = server;
  if (isJsonObject(oauth) && oauth["clientSecret"] !== undefined && oauth["clientId"] === undefined) {
    const message = "has an effect only together with clientId";
    context.problems.report({ path: [...path, "oauth", "clientSecret"], anchor: "key", message });
  }
}

/** Refuses line breaks in headers here, where the message can name the key: they would start another header. */
function checkEntries(
  entries: Json | undefined,
  path: KeyPath,
  rules: RelationContext & { readonly name: RegExp; readonly bad: RegExp },
): void {
  for (const [key, value] of Object.entries(isJsonObject(entries) ? entries : {})) {
    const report = (anchor: "key" | "value", message: string): void =>
      rules.problems.report({ path: [...path, key], anchor, message });
    if (!rules.name.test(key)) report("key", `not a valid name for an entry of ${String(path.at(-1))}`);
    if (typeof value !== "string") continue;
    const { parts } = expandText(value, rules.environment);
    if (parts.some((part) => typeof part === "string" && rules.bad.test(part))) {
      report("value", "contains a line break or NUL character, or a variable in it does");
    }
  }
}

const EXPORT_KEYS: Readonly<Record<string, readonly string[]>> = {
  file: ["path"],
  syslog: ["url"],
  otlp: ["url", "headers"],
};

/** Each kind of export has different keys and a different kind of URL. */
function checkExports(entries: readonly Json[], context: RelationContext): void {
  for (const [index, entry] of entries.entries()) {
    if (!isJsonObject(entry)) continue;
    const { kind, url } = entry;
    const path = ["audit", "export", index];
    const own = typeof kind === "string" ? EXPORT_KEYS[kind] : undefined;
    if (own) checkExport(entry, own, { path, ...context });
    const isOther = typeof url === "string" && (kind === "syslog" ? isHttpUrl(url) : isSyslogUrl(url));
    if (isOther && own)
      context.problems.report({
        path: [...path, "url"],
        anchor: "value",
        message: `not a valid URL for ${quote(typeof kind === "string" ? kind : "")}`,
      });
    checkEntries(entry["headers"], [...path, "headers"], { ...context, name: HEADER_NAME, bad: BAD_IN_HEADER });
  }
}

function checkExport(
  entry: JsonObject,
  own: readonly string[],
  { path, problems }: RelationContext & { readonly path: KeyPath },
): void {
  const [needed = ""] = own;
  if (entry[needed] === undefined) problems.report({ path, anchor: "key", message: `expected ${needed}` });
  for (const key of ["path", "url", "headers"].filter((name) => entry[name] !== undefined && !own.includes(name)))
    problems.report({ path: [...path, key], anchor: "key", message: "has no effect with this kind of export" });
}
