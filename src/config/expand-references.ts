/**
 * References in strings: `${VAR}`, `${VAR:-default}`, `${secret:NAME}`, and `$${` for a literal `${`.
 * The value of a variable is not expanded again, so an environment variable cannot refer to a secret.
 */

import { isJsonObject, parseSecretName } from "../domain/index.ts";
import type { Json, SecretName, SecretTemplate } from "../domain/index.ts";
import type { KeyPath, Problems } from "./problems.ts";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

type TemplatePart = SecretTemplate[number];

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;
const SECRET = "secret:";

/** Splits a string into plain parts and secrets, and replaces variables. With `problems`, the parts must not be used. */
export function expandText(
  text: string,
  environment: EnvironmentVariables,
): { readonly parts: SecretTemplate; readonly problems: readonly string[] } {
  const parts: TemplatePart[] = [];
  const problems: string[] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const found = match[1] === undefined ? { part: "${" } : resolve(match[1], match[2] === "}", environment);
    if ("part" in found) parts.push(found.part);
    else problems.push(found.problem);
  }
  parts.push(text.slice(end));
  return { parts: joinTexts(parts), problems };
}

type ResolvedReference = { readonly part: TemplatePart } | { readonly problem: string };

/** Messages do not repeat the reference: it could be part of a password that contains `${`. */
function resolve(body: string, isClosed: boolean, environment: EnvironmentVariables): ResolvedReference {
  if (!isClosed) return { problem: "a reference that starts with ${ has no closing }; write $${ for a literal ${" };
  if (body.includes("${")) return { problem: "references cannot be nested" };
  if (body.startsWith(SECRET)) return resolveSecret(parseSecretName(body.slice(SECRET.length)));
  const variable = VARIABLE.exec(body);
  if (!variable) {
    return { problem: "expected ${VAR}, ${VAR:-default} or ${secret:NAME}; write $${ for a literal ${" };
  }
  const [, name = "", fallback] = variable;
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  if (fallback !== undefined) return { part: value || fallback };
  if (value !== undefined) return { part: value };
  return { problem: `the environment variable ${name} is not set; set it, or write \${${name}:-default}` };
}

function resolveSecret(secret: SecretName | undefined): ResolvedReference {
  if (secret !== undefined) return { part: { secret } };
  return { problem: "expected a secret name of letters, digits and underscores, as in ${secret:API_KEY}" };
}

/** Joins adjacent strings and drops empty ones, so that equal strings give equal templates. */
function joinTexts(parts: readonly TemplatePart[]): SecretTemplate {
  const joined: TemplatePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part === "") continue;
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

/** Replaces variables, except where secrets are allowed: those values are checked and become templates later. */
export function expandReferences(config: Json, environment: EnvironmentVariables, problems: Problems): Json {
  const walk = (value: Json, path: KeyPath): Json => {
    if (typeof value === "string") return expandAt(value, path);
    if (Array.isArray(value)) return value.map((item: Json, index) => walk(item, [...path, index]));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, walk(child, [...path, key])]));
  };
  const expandAt = (text: string, path: KeyPath): string => {
    if (path.length === 1 && path[0] === "$schema") return text;
    const { parts, problems: wrong } = expandText(text, environment);
    const plain = parts.filter((part) => typeof part === "string");
    const refused = plain.length < parts.length && !isTemplatePath(path) ? SECRET_MISPLACED : undefined;
    const message = wrong[0] ?? refused;
    if (message !== undefined) problems.refuse(path, message);
    return message !== undefined || isTemplatePath(path) ? text : plain.join("");
  };
  return walk(config, []);
}

const SECRET_MISPLACED =
  "${secret:NAME} is allowed only in env, headers, auth and oauth.clientSecret of an upstream, in headers of an export, in traces.headers, in egress.proxyPassword, in clientSecret of server.oidc, and in the secret of anomalies.webhook and approvals.notify.webhook";

/** A star stands for any key or index. */
const TEMPLATE_PATHS = [
  ["audit", "export", "*", "headers", "*"],
  ["egress", "proxyPassword"],
  ["traces", "headers", "*"],
  ["anomalies", "webhook", "secret"],
  ["approvals", "notify", "webhook", "secret"],
  ["server", "oidc", "*", "clientSecret"],
  ["mcpServers", "*", "oauth", "clientSecret"],
  ["mcpServers", "*", "env", "*"],
  ["mcpServers", "*", "headers", "*"],
  ["openapi", "*", "headers", "*"],
  ["openapi", "*", "auth", "*"],
];

function isTemplatePath(path: KeyPath): boolean {
  return TEMPLATE_PATHS.some(
    (keys) => keys.length === path.length && keys.every((key, at) => key === "*" || key === path[at]),
  );
}
