/**
 * References in strings: `${VAR}`, `${VAR:-default}`, `${secret:NAME}`, and `$${` for a literal `${`.
 * The value of a variable is not expanded again, so an environment variable cannot refer to a secret.
 */

import { isJsonObject, parseSecretName } from "../domain/index.ts";
import type { Json, SecretName, SecretTemplate } from "../domain/index.ts";
import type { KeyPath, Problems } from "./problems.ts";

/** Variables that a configuration may refer to. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

type TemplatePart = SecretTemplate[number];

/** A string after expansion. If there are `problems`, the parts must not be used. */
export interface TemplateExpansion {
  readonly parts: SecretTemplate;
  readonly problems: readonly string[];
}

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;
const SECRET = /^secret:([\s\S]*)$/;

/** Splits a string into plain parts and secrets, and replaces variables. */
export function expandText(text: string, environment: EnvironmentVariables): TemplateExpansion {
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
  const secret = SECRET.exec(body);
  if (secret) return resolveSecret(parseSecretName(secret[1]));
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

/**
 * Replaces variables everywhere except in values that may contain secrets. Those are checked here and stay unchanged
 * until they become templates.
 */
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
    if (message !== undefined) problems.report({ path, anchor: "value", message });
    return message !== undefined || isTemplatePath(path) ? text : plain.join("");
  };
  return walk(config, []);
}

const SECRET_MISPLACED =
  "${secret:NAME} is allowed only in env, headers, auth and oauth.clientSecret of an upstream, in headers of an export, in traces.headers, in egress.proxyPassword and in anomalies.webhook.secret";

function isTemplatePath(path: KeyPath): boolean {
  const [map, second, key, fourth] = path;
  if (map === "audit" && second === "export") return path.length === 5 && fourth === "headers";
  if (path.length === 2 && map === "egress") return second === "proxyPassword";
  if (path.length === 3 && map === "traces" && second === "headers") return true;
  if (path.length === 3 && map === "anomalies" && second === "webhook") return key === "secret";
  if (path.length !== 4) return false;
  if (map === "mcpServers" && key === "oauth") return fourth === "clientSecret";
  return (map === "mcpServers" && (key === "env" || key === "headers")) || (map === "openapi" && isApiTemplate(key));
}

function isApiTemplate(key: string | number | undefined): boolean {
  return key === "headers" || key === "auth";
}
