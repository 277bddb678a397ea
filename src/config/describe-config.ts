/** Lists everything that a configuration asks for, for the person who is asked for consent. */

import { isJsonObject } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import { copyConfig } from "./read/copy-config.ts";
import type { ConfigText } from "./load-settings.ts";
import { parseJsonc } from "./read/parse-jsonc.ts";
import { createProblems, toKeyText } from "./problems.ts";
import type { KeyPath } from "./problems.ts";

const REFERENCE = /\$\{[^}]*\}?/g;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

/** Shows every value: nothing may be hidden from the person who decides. The caller escapes the lines. */
export function describeConfig({ path, text, isCode }: ConfigText): readonly string[] {
  if (isCode) return ["code that runs with your rights:", ...text.split(/\r?\n/).map((line) => `  ${line}`)];
  const config = copyConfig(parseJsonc(text, path), createProblems());
  const { servers, rest } = takeCommands(config);
  const leaves = listLeaves(rest);
  const isAddress = (value: Json): boolean => typeof value === "string" && ADDRESS.test(value);
  const format = ([key, value]: Leaf): string => `${toKeyText(key)}: ${JSON.stringify(value)}`;
  const isModule = ([[section]]: Leaf): boolean => section === "adapters";
  return [
    ...section("commands that it starts:", servers),
    ...section("modules that it loads:", leaves.filter(isModule).map(format)),
    ...section("addresses:", leaves.filter(([, value]) => isAddress(value)).map(format)),
    ...section("references to the environment and to secrets:", [
      ...new Set(listLeaves(config).flatMap(findReferences)),
    ]),
    ...section("other settings:", leaves.filter((leaf) => !isModule(leaf) && !isAddress(leaf[1])).map(format)),
  ];
}

function findReferences([, value]: Leaf): readonly string[] {
  return typeof value === "string" ? (value.match(REFERENCE) ?? []) : [];
}

type Leaf = readonly [path: KeyPath, value: Json];

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

/** Each command is one line with its arguments; the other settings of its server stay. */
function takeCommands(config: Json): { readonly servers: readonly string[]; readonly rest: Json } {
  if (!isJsonObject(config) || !isJsonObject(config["mcpServers"])) return { servers: [], rest: config };
  const servers: string[] = [];
  const others: [string, Json][] = [];
  for (const [name, server] of Object.entries(config["mcpServers"])) {
    if (!isJsonObject(server) || server["command"] === undefined) {
      others.push([name, server]);
      continue;
    }
    const { command, args = [], ...more } = server;
    const words = [command, ...(Array.isArray(args) ? args : [args])];
    servers.push(`${toKeyText([name])}: ${words.map((word) => JSON.stringify(word)).join(" ")}`);
    others.push([name, more]);
  }
  return { servers, rest: { ...config, mcpServers: Object.fromEntries(others) } };
}

/** Every value that is not an object or an array, with its path. */
function listLeaves(value: Json, path: KeyPath = []): readonly Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item: Json, index) => listLeaves(item, [...path, index]));
  if (!isJsonObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, child]) => listLeaves(child, [...path, key]));
}
