/** Plans to add pasted servers to the configuration, or to remove one. Changes nothing. */

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { editServers, readServers } from "./edit-servers.ts";
import type { ServerFile } from "./edit-servers.ts";
import type { Places } from "./find-files.ts";
import { readEntry } from "./read-entry.ts";
import type { PastedServers } from "./read-paste.ts";
import { readTarget } from "./read-target.ts";
import type { FileEdit } from "./read-target.ts";
import { takeSecrets } from "./take-secrets.ts";
import type { FoundSecret } from "./take-secrets.ts";

export interface AddedServer {
  readonly name: string;
  readonly section: PastedServers["section"];
  /** With its literal secrets, to try it. */
  readonly tried: JsonObject;
  readonly entry: JsonObject;
  readonly secrets: readonly FoundSecret[];
  readonly warnings: readonly string[];
  readonly missingSecrets: readonly string[];
}

export interface AddOptions {
  readonly places: Places;
  readonly secretNames: readonly string[];
  /** Instead of the name that is chosen; for one server only. */
  readonly name?: string | undefined;
}

export function planAdd({ section, entries }: PastedServers, options: AddOptions): readonly AddedServer[] {
  const pasted = Object.entries(entries);
  const { name: wanted, secretNames, places } = options;
  if (wanted !== undefined && pasted.length > 1) {
    throw new GloveboxError("REQUEST_INVALID", "--name is for one server, and several were pasted", {
      hint: "Leave --name out, or paste one server",
    });
  }
  const taken = new Set(secretNames);
  const claim = (names: readonly string[]): string => {
    const all = [...names, ...[2, 3, 4, 5].map((number) => `${names.at(-1) ?? ""}_${number}`)];
    const name = all.find((one) => !taken.has(one)) ?? `${all[0] ?? ""}_${taken.size}`;
    taken.add(name);
    return name;
  };
  return pasted.map(([found, raw]) => {
    const name = wanted ?? found;
    const read = section === "openapi" ? toApi(raw) : readEntry(raw, { ...places, hasBareVariables: false });
    if (typeof read === "string")
      throw new GloveboxError("REQUEST_INVALID", `${name} cannot be added: ${read}`, { hint: "Paste another entry" });
    const { entry, secrets, warnings } = takeSecrets(name, read.entry, claim);
    const { missingSecrets } = read;
    return {
      name,
      section,
      tried: read.entry,
      entry,
      secrets,
      warnings: [...read.warnings, ...warnings],
      missingSecrets,
    };
  });
}

function toApi(raw: JsonObject[string]): Exclude<ReturnType<typeof readEntry>, string> {
  return { entry: isJsonObject(raw) ? raw : {}, warnings: [], missingSecrets: [] };
}

/** Throws REQUEST_INVALID for a name that the configuration has. */
export function planConfigAdd(configPath: string, added: readonly AddedServer[]): FileEdit {
  const target = readTarget(configPath);
  const text = target.text ?? "{}\n";
  const after = added.reduce((edited, { section, name, entry }) => {
    const file = toConfigFile(configPath, section);
    if (Object.hasOwn(readServers(edited, file), name)) {
      throw new GloveboxError("REQUEST_INVALID", `The configuration has a server ${JSON.stringify(name)}`, {
        hint: "Choose another name with --name, or remove it with `glovebox servers remove`",
      });
    }
    return editServers(edited, file, { set: { [name]: entry }, remove: [] });
  }, text);
  return { ...target, after, title: "Glovebox" };
}

/** `undefined` if the configuration has no such server. */
export function planConfigRemove(configPath: string, name: string): FileEdit | undefined {
  const target = readTarget(configPath);
  if (target.text === undefined) return undefined;
  const text = target.text;
  const sections = ["mcpServers", "openapi"].map((section) => toConfigFile(configPath, section));
  const file = sections.find((one) => Object.hasOwn(readServers(text, one), name));
  return file && { ...target, after: editServers(text, file, { set: {}, remove: [name] }), title: "Glovebox" };
}

function toConfigFile(path: string, section: string): ServerFile {
  return { path, format: "json", keys: [section], isList: false };
}
