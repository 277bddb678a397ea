/** Takes literal secrets out of entries: they go to the vault, and the configuration has references to them. */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import { toSecretName, toText } from "./translate-references.ts";

export interface FoundSecret {
  readonly name: string;
  readonly value: string;
}

export interface EntryWithoutSecrets {
  readonly entry: JsonObject;
  readonly secrets: readonly FoundSecret[];
  readonly warnings: readonly string[];
}

const MIN_LENGTH = 8;
const SECRET_KEY =
  /(?:token|secret|passw(?:or)?d|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|auth(?:orization)?|cookie|_pat|_key)$/i;
/** Prefixes of tokens of well-known services, JSON web tokens, and addresses with a password. */
const SECRET_VALUE =
  /^(?:gh[pousr]_|github_pat_|glpat-|sk-|sk_|rk_|xox[abprs]-|AKIA|AIza|eyJ[\w-]+\.eyJ|npm_|pypi-|hf_|SG\.|dop_v1_|shpat_|[a-z][a-z0-9+.-]*:\/\/[^/\s:@]+:[^/\s@]+@)/;
/** `Bearer` stays in the configuration. */
const SCHEME = /^([A-Za-z][A-Za-z-]* )(\S+)$/;
const URL_SECRET = /[?&](?:api[-_]?key|key|token|access_token|secret|password)=/i;

/** `claim` gives the secret its name: the same value has one name. */
export function takeSecrets(
  server: string,
  { env, headers, ...rest }: JsonObject,
  claim: (wanted: readonly string[], value: string) => string,
): EntryWithoutSecrets {
  const secrets: FoundSecret[] = [];
  const take = (key: string, text: string, wanted: readonly string[]): string => {
    if (!isLiteralSecret(key, text)) return text;
    const [, scheme = "", value = text] = SCHEME.exec(text) ?? [];
    const name = claim(wanted, value);
    secrets.push({ name, value: value.replaceAll("$${", "${") });
    return `${scheme}\${secret:${name}}`;
  };
  const takeAll = (pairs: Json | undefined, toNames: (key: string) => readonly string[]): JsonObject | undefined =>
    isJsonObject(pairs)
      ? Object.fromEntries(Object.entries(pairs).map(([key, text]) => [key, take(key, toText(text), toNames(key))]))
      : undefined;
  const newEnv = takeAll(env, (key) => [toSecretName(key), toSecretName(server, key)]);
  const newHeaders = takeAll(headers, (key) => [toSecretName(server, key)]);
  return {
    entry: { ...rest, ...(newEnv && { env: newEnv }), ...(newHeaders && { headers: newHeaders }) },
    secrets,
    warnings: findRest(rest),
  };
}

function isLiteralSecret(key: string, text: string): boolean {
  if (text.length < MIN_LENGTH || text.replaceAll("$${", "").includes("${")) return false;
  return SECRET_KEY.test(key) || SECRET_VALUE.test(text);
}

/** Secrets where our configuration allows none. */
function findRest({ args, url }: JsonObject): readonly string[] {
  const words = Array.isArray(args) ? args.map((word: Json) => toText(word)) : [];
  const isGiven = words.some((word, index) => {
    const option = words[index - 1] ?? "";
    const isValue = option.startsWith("-") && !word.startsWith("-");
    return SECRET_VALUE.test(word) || (isValue && SECRET_KEY.test(option));
  });
  const inArgument =
    isGiven || words.some((word) => /^--?[\w-]+=/.test(word) && SECRET_KEY.test(word.split("=")[0] ?? ""));
  const warnings: string[] = [];
  if (inArgument) warnings.push("an argument looks like a secret; it stays in the configuration");
  if (typeof url === "string" && URL_SECRET.test(url))
    warnings.push("the URL has a secret, which stays in the configuration");
  return warnings;
}
