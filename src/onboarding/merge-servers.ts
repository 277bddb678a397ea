/** Collects servers of all clients: the same server once, different ones of one name under two names. */

import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import type { Client } from "./clients.ts";
import type { Places, ClientPlace } from "./find-files.ts";
import { isOwnEntry } from "./own-entry.ts";
import { readEntry } from "./read-entry.ts";
import type { ImportedEntry } from "./read-entry.ts";
import { takeSecrets } from "./take-secrets.ts";
import type { FoundSecret } from "./take-secrets.ts";

export interface ImportedServer {
  /** Its name in our configuration. */
  readonly name: string;
  readonly entry: JsonObject;
  /** Titles of the clients that have it. */
  readonly clients: readonly string[];
  readonly warnings: readonly string[];
  /** True for a server of a project file: another person may have written it. */
  readonly needsConfirmation: boolean;
}

/** What was read of one place: names that are imported, and entries that stay, with the reason. */
export interface ReadNames {
  readonly servers: readonly string[];
  readonly left: readonly { readonly name: string; readonly reason: string }[];
}

export interface MergeOptions {
  readonly places: Places;
  /** Servers of the project are not disabled. */
  readonly isProject: boolean;
  /** Servers of project files that a person confirmed. */
  readonly confirmed: ReadonlySet<string>;
  /** Names that the vault has already. */
  readonly secretNames: readonly string[];
  /** Servers that the configuration has already keep their names and entries. */
  readonly present: JsonObject;
  /** Throws CONFIG_INVALID for an entry that would make the configuration invalid. */
  readonly checkEntry: (name: string, entry: JsonObject) => void;
}

/** A server with its secrets, which tell whether another client has the same one. */
interface MergedServer extends Pick<ImportedEntry, "warnings"> {
  readonly clients: readonly string[];
  readonly entry: JsonObject;
  readonly needsConfirmation: boolean;
}

export function createMerge(options: MergeOptions) {
  const servers = new Map<string, MergedServer>();
  const missing = new Set<string>();
  const chooseName = (name: string, { id }: Client, entry: JsonObject): string => {
    const isSame = (one: string): boolean => isDeepStrictEqual(servers.get(one)?.entry, entry);
    const isFree = (one: string): boolean => !servers.has(one) && !Object.hasOwn(options.present, one);
    return firstName([name, `${name}-${id}`], "-", (one) => isSame(one) || isFree(one));
  };
  const addServer = (name: string, { entry, warnings }: ImportedEntry, { client, scope }: ClientPlace): void => {
    if (isImported(entry, options.present[name])) return;
    const ours = chooseName(name, client, entry);
    const known = servers.get(ours)?.clients ?? [];
    const needsConfirmation = scope === "project" && !options.isProject && !options.confirmed.has(ours);
    servers.set(ours, { clients: [...new Set([...known, client.title])], entry, warnings, needsConfirmation });
  };
  return {
    add(place: ClientPlace, raw: JsonObject): ReadNames {
      const hasBareVariables = place.client.hasBareVariables === true;
      const left: { readonly name: string; readonly reason: string }[] = [];
      const names: string[] = [];
      for (const [name, one] of Object.entries(raw).filter(([key, entry]) => !isOwnEntry(key, entry))) {
        const found = checkFound(name, readEntry(one, { ...options.places, hasBareVariables }), options);
        if (typeof found === "string") {
          left.push({ name, reason: found });
          continue;
        }
        names.push(name);
        addServer(name, { ...found, entry: addFolder(found.entry, place, options) }, place);
        for (const secret of found.missingSecrets) missing.add(secret);
      }
      return { servers: names, left };
    },
    /** Secrets get their names last, so that none has the name of one that a person is asked for. */
    end() {
      const secrets = createSecretNames([...options.secretNames, ...missing]);
      const imported = [...servers].map(([name, { clients, entry, warnings, needsConfirmation }]): ImportedServer => {
        const taken = takeSecrets(name, entry, secrets.claim);
        const shown = { ...taken.entry, ...(needsConfirmation && { disabled: true }) };
        return { name, entry: shown, clients, warnings: [...warnings, ...taken.warnings], needsConfirmation };
      });
      const missingSecrets = [...missing].filter((name) => !options.secretNames.includes(name));
      return { servers: imported, secrets: secrets.list(), missingSecrets };
    },
  };
}

/** A server of a project starts in its folder, as the client starts it. */
function addFolder(
  entry: JsonObject,
  { scope, keys, client }: ClientPlace,
  { isProject, places }: MergeOptions,
): JsonObject {
  const isOfProject = (scope === "project" || keys !== client.keys) && !isProject;
  const { command, cwd } = entry;
  if (!isOfProject || command === undefined) return entry;
  return { ...entry, cwd: resolve(places.project, typeof cwd === "string" ? cwd : ".") };
}

/** Returns the reason instead of an entry that would make our configuration invalid. */
function checkFound(name: string, found: ImportedEntry | string, { checkEntry }: MergeOptions): ImportedEntry | string {
  if (typeof found === "string") return found;
  try {
    checkEntry(name, found.entry);
    return found;
  } catch (thrown) {
    if (thrown instanceof GloveboxError) return thrown.message;
    throw thrown;
  }
}

/** True if an earlier import made the entry that the configuration has. Its secrets are references by now. */
function isImported(entry: JsonObject, present: Json | undefined): boolean {
  if (!isJsonObject(present)) return false;
  const strip = ({ env, headers, disabled: _, ...rest }: JsonObject): unknown => [
    rest,
    listKeys(env),
    listKeys(headers),
  ];
  return isDeepStrictEqual(strip(entry), strip(present));
}

function listKeys(pairs: Json | undefined): readonly string[] {
  return isJsonObject(pairs) ? Object.keys(pairs) : [];
}

/** One name for each value. */
function createSecretNames(taken: readonly string[]) {
  const values = new Map<string, string>();
  return {
    claim: (wanted: readonly string[], value: string): string => {
      const isFree = (name: string): boolean => !values.has(name) && !taken.includes(name);
      const name = firstName(wanted, "_", (one) => values.get(one) === value || isFree(one));
      values.set(name, value);
      return name;
    },
    list: (): readonly FoundSecret[] => [...values].map(([name, value]) => ({ name, value })),
  };
}

/** The first that fits, else the last with the first number that fits. */
function firstName(wanted: readonly string[], separator: string, fits: (name: string) => boolean): string {
  const found = wanted.find(fits);
  if (found !== undefined) return found;
  for (let number = 2; ; number += 1) {
    const name = `${wanted.at(-1) ?? ""}${separator}${number}`;
    if (fits(name)) return name;
  }
}
