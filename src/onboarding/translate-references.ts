/** Translates references in strings of clients: to variables, to values that the client asks for, and to folders. */

import type { Json } from "../domain/index.ts";

/** Clients write numbers and booleans where strings belong. */
export function toText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface ReferenceOptions {
  readonly home: string;
  /** The folder that stands for the workspace. */
  readonly project: string;
  /** True if `$NAME` is a variable. */
  readonly hasBareVariables: boolean;
}

export interface TranslatedText {
  readonly text: string;
  /** Names of secrets that a person must set. */
  readonly inputs: readonly string[];
  readonly notes: readonly string[];
}

const REFERENCE = /\$\$\{|\$\{(\{[^}]*\})\}|\$\{([^}]*)\}|\{(env|file):([^}]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)/g;
/** `${input:NAME}`, and `${{ secrets.NAME }}` of Continue. */
const INPUT = /^(?:input:(.+)|\{\s*(?:secrets|inputs)\.([\w-]+)\s*\})$/;
const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/**
 * A variable that is not set becomes an empty string, as in most clients: otherwise one server with a missing variable
 * would make the whole configuration invalid.
 */
export function translateReferences(
  raw: string,
  { home, project, hasBareVariables, isSecretAllowed }: ReferenceOptions & { readonly isSecretAllowed: boolean },
): TranslatedText {
  const inputs: string[] = [];
  const notes: string[] = [];
  const toInput = (id: string): string => {
    const name = toSecretName(id);
    if (isSecretAllowed) {
      inputs.push(name);
      return `\${secret:${name}}`;
    }
    notes.push(`set the environment variable ${name}: an argument cannot contain a secret`);
    return `\${${name}:-}`;
  };
  const toBraced = (body: string, whole: string): string => {
    const input = INPUT.exec(body);
    if (input) return toInput(input[1] ?? input[2] ?? "");
    if (body === "workspaceFolder" || body === "workspaceRoot") return escapeText(project);
    if (body === "userHome") return escapeText(home);
    if (body === "/" || body === "pathSeparator") return "/";
    const variable = VARIABLE.exec(body);
    if (variable) return `\${${variable[1] ?? ""}:-${variable[2] ?? ""}}`;
    notes.push(`${whole} is unknown and kept as text`);
    return escapeText(whole);
  };
  const text = raw.replaceAll(REFERENCE, (...match: readonly (string | undefined)[]) => {
    const [whole = "", doubled, body, kind, name, bare] = match;
    if (doubled !== undefined) return toBraced(doubled, whole);
    if (body !== undefined) return toBraced(body, whole);
    if (kind === "env") return toBraced(`env:${name ?? ""}`, whole);
    if (kind === "file") notes.push(`${whole} is not read: set a secret instead, and write \${secret:NAME}`);
    if (bare !== undefined && hasBareVariables) return `\${${bare}:-}`;
    return whole === "$${" ? "$$${" : whole;
  });
  return { text, inputs, notes };
}

/** Text that must not become a reference in our configuration. */
export function escapeText(text: string): string {
  return text.replaceAll("${", () => "$${");
}

/** `github-token` becomes `GITHUB_TOKEN`. */
export function toSecretName(...words: readonly string[]): string {
  const name = words
    .join("_")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toUpperCase()
    .slice(0, 100);
  return /^[A-Z_]/.test(name) ? name : `SECRET_${name}`;
}
