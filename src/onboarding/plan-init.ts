/** Plans an import: which servers enter our configuration, and what changes in the files of clients. Changes nothing. */

import { isDeepStrictEqual } from "node:util";

import { GloveboxError } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { editServers, readServers } from "./edit-servers.ts";
import type { ServerFile } from "./edit-servers.ts";
import type { StartCommand } from "./clients.ts";
import type { Places, ClientPlace } from "./find-files.ts";
import { createMerge } from "./merge-servers.ts";
import type { ImportedServer, MergeOptions, ReadNames } from "./merge-servers.ts";
import { OWN_NAME, isOwnEntry } from "./own-entry.ts";
import { readTarget } from "./read-target.ts";
import type { FileEdit, Target } from "./read-target.ts";
import type { FoundSecret } from "./take-secrets.ts";

export interface FoundClient extends ReadNames {
  readonly id: string;
  readonly title: string;
  readonly path: string;
  readonly scope: "user" | "project";
  /** Why the file cannot be used; it is not changed then. */
  readonly problem?: GloveboxError;
}

export interface InitPlan {
  readonly clients: readonly FoundClient[];
  readonly servers: readonly ImportedServer[];
  readonly secrets: readonly FoundSecret[];
  /** Names that a person must set with `glovebox secrets set`. */
  readonly missingSecrets: readonly string[];
  /** The configuration first, then each file of a client that changes. */
  readonly edits: readonly FileEdit[];
}

export interface InitOptions extends Omit<MergeOptions, "present"> {
  readonly places: Places;
  /** From `findClientPlaces`, or those that a person chose. */
  readonly clientPlaces: readonly ClientPlace[];
  /** The configuration to write; it may exist. */
  readonly configPath: string;
  readonly start: StartCommand;
  /** Imported entries stay in the files of clients. */
  readonly keep: boolean;
}

/** One place of a file that was read. */
interface ReadPlace {
  readonly place: ClientPlace;
  readonly file: ServerFile;
  readonly target: Target;
  readonly servers: JsonObject;
  readonly names: ReadNames;
}

export function planInit(options: InitOptions): InitPlan {
  const config = readTarget(options.configPath);
  const configFile: ServerFile = { path: config.path, format: "json", keys: ["mcpServers"], isList: false };
  const present = config.text === undefined ? {} : readServers(config.text, configFile);
  const merge = createMerge({ ...options, present });
  const read = options.clientPlaces.map((place) => {
    const found = readPlace(place);
    return found instanceof GloveboxError
      ? { place, problem: found }
      : { place, found: { ...found, names: merge.add(place, found.servers) } };
  });
  const places = read.flatMap(({ found }) => found ?? []);
  const { servers, secrets, missingSecrets } = merge.end();
  const set = Object.fromEntries(servers.map(({ name, entry }) => [name, entry]));
  const configText = config.text ?? `${JSON.stringify({ mcpServers: {} }, null, 2)}\n`;
  const configEdit = { ...config, title: "Glovebox", after: editServers(configText, configFile, { set, remove: [] }) };
  const edited = groupByPath(places, options).map((group) => editFile(group, options));
  const problems = new Map(edited.flatMap(({ path, problem }) => (problem ? [[path, problem] as const] : [])));
  return {
    clients: describeClients(read, problems),
    servers,
    secrets,
    missingSecrets,
    edits: [configEdit, ...edited.flatMap(({ edit }) => edit ?? [])].filter(({ text, after }) => text !== after),
  };
}

function readPlace(place: ClientPlace): Omit<ReadPlace, "names"> | GloveboxError {
  const { client, path, keys } = place;
  const file = { path, keys, format: client.format, isList: client.isList === true };
  try {
    const target = readTarget(path);
    return { place, file, target, servers: readServers(target.text ?? "", file) };
  } catch (thrown) {
    if (thrown instanceof GloveboxError) return thrown;
    throw thrown;
  }
}

/** Files of a project are shared with others, so they change only when the project is set up. */
function groupByPath(places: readonly ReadPlace[], { isProject }: InitOptions): readonly (readonly ReadPlace[])[] {
  const mine = places.filter(({ place }) => place.scope === "user" || isProject);
  return [...Map.groupBy(mine, ({ place }) => place.path).values()];
}

/** Registers Glovebox, and removes what was imported. */
function editFile(
  group: readonly ReadPlace[],
  { start, keep }: InitOptions,
): { readonly path: string; readonly edit?: FileEdit; readonly problem?: GloveboxError } {
  const [first] = group;
  if (!first) throw new TypeError("A group of places has no place");
  const { target, place } = first;
  const path = place.path;
  let after = target.text ?? "";
  try {
    for (const { place: one, file, servers, names } of group) {
      const isMain = one.keys === one.client.keys;
      const stale = Object.entries(servers).filter(([name, entry]) => isOwnEntry(name, entry) && name !== OWN_NAME);
      const remove = [...(keep ? [] : names.servers), ...stale.map(([name]) => name)];
      const entry = one.client.writeEntry(start);
      const set = isMain && !isDeepStrictEqual(servers[OWN_NAME], entry) ? { [OWN_NAME]: entry } : {};
      after = editServers(after, file, { set, remove });
    }
    return { path, edit: { ...target, after, title: place.client.title } };
  } catch (thrown) {
    if (thrown instanceof GloveboxError) return { path, problem: thrown };
    throw thrown;
  }
}

/** One for each file. */
function describeClients(
  read: readonly { readonly place: ClientPlace; readonly problem?: GloveboxError; readonly found?: ReadPlace }[],
  problems: ReadonlyMap<string, GloveboxError>,
): readonly FoundClient[] {
  return [...Map.groupBy(read, ({ place }) => place.path).entries()].flatMap(([path, places]) => {
    const [first] = places;
    if (!first) return [];
    const { client, scope } = first.place;
    const problem = first.problem ?? problems.get(path);
    const servers = places.flatMap(({ found }) => found?.names.servers ?? []);
    const left = places.flatMap(({ found }) => found?.names.left ?? []);
    return [{ id: client.id, title: client.title, path, scope, servers, left, ...(problem && { problem }) }];
  });
}
