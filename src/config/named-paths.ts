/**
 * What a server can reach on the disk, as far as its settings tell. Keeps the store, its keys, rules and consents out
 * of reach of servers that are given a folder. A server runs with the rights of the user, so this is not a wall.
 */

import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, ServerSettings } from "../domain/index.ts";
import { createPathMask } from "../text/index.ts";
import type { EnvironmentVariables } from "./expand-references.ts";
import { SQLITE_MEMORY } from "./formats.ts";
import type { Settings } from "./settings.ts";

/** An argument may hold paths among other words: `--root=/srv`, `type=bind,src=/srv`, `/srv:/data`, `file:///srv`. */
const SEPARATOR = /[=,:;]/;
const HOME = /^~(?=\/|$)/;

/** An absolute path, and the key of a server's settings that names it, such as `args[2]`. */
interface NamedPath {
  readonly key: string;
  readonly path: string;
}

/** Paths of Glovebox. A server may not be given a folder that contains one, nor the path itself. */
interface GuardedPath {
  readonly path: string;
  readonly what: string;
  readonly remedy?: string;
  /** True for a folder of Glovebox alone: a server may not be given a folder in it either. */
  readonly isOwn?: boolean;
}

/** What decides which paths no server may reach. */
type GuardedSettings = Pick<Settings, "folder" | "store" | "policy" | "skills">;

/** Returns a check for the start of a server: the paths that it names, or CONFIG_INVALID if it must not start. */
export function createReachCheck(settings: GuardedSettings, environment: EnvironmentVariables) {
  return (id: ConnectorId, server: ServerSettings): readonly NamedPath[] => {
    const guarded = listGuarded(settings);
    const named = listNamedPaths(server, environment);
    for (const { key, path } of named) {
      const reached = guarded.find((one) => isReached(path, one));
      if (reached) throw refuseStart(id, key, reached);
    }
    return named;
  };
}

/** Returns the real paths of the folders that servers are given, without servers that do not start. */
export function listReachedFolders(settings: Settings, environment: EnvironmentVariables): readonly string[] {
  const guarded = listGuarded(settings);
  const named = [...settings.upstreams.values()]
    .map((server) => listNamedPaths(server, environment))
    .filter((paths) => !paths.some(({ path }) => guarded.some((one) => isReached(path, one))))
    .flat();
  const folders = named.filter(({ path }) => identify(path)?.isFolder);
  return [...new Set(folders.map(({ path }) => realpathSync.native(path)))];
}

/** `path` and all folders above it, nearest first. */
export function listSelfAndAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...listSelfAndAbove(above)];
}

/** Absolute paths, whether they exist or not: `files`, a configured `cwd` and what the arguments may mean. */
function listNamedPaths(server: ServerSettings, environment: EnvironmentVariables): readonly NamedPath[] {
  if (server.transport !== "stdio") return [];
  const { args, cwd, folders = [] } = server;
  const home = environment["HOME"] ?? "~";
  const words = args.flatMap((arg, index) =>
    [...new Set([arg, ...arg.split(SEPARATOR)])].map((word) => ({ key: `args[${index}]`, word })),
  );
  const named = words
    .filter(({ word }) => word !== "")
    .map(({ key, word }) => ({
      key,
      path: resolve(
        cwd,
        word.replace(HOME, () => home),
      ),
    }));
  return [...folders, ...named];
}

function listGuarded({ folder, store, policy, skills }: GuardedSettings): readonly GuardedPath[] {
  const { path, stateFolder } = store;
  const [rules, state] = ["the rules of policy.file", "the folder with the stores, keys and consents of Glovebox"];
  return [
    ...(stateFolder === undefined ? [] : [{ path: stateFolder, what: state, isOwn: true }]),
    ...(path === SQLITE_MEMORY ? [] : listStoreFiles(path, folder)),
    ...(policy.file === undefined ? [] : [{ path: policy.file, what: rules }]),
    ...(skills.folder === undefined ? [] : [{ path: skills.folder, what: "the folder of approved skills" }]),
  ];
}

/** A store can be named in the folder of the configuration, or in one above it. Then that folder has other uses too. */
function listStoreFiles(path: string, configFolder: string): readonly GuardedPath[] {
  const folder = dirname(path);
  const store = {
    what: "the store of Glovebox and its keys",
    remedy: "; or remove store.url, because the default store is outside of every project",
  };
  const files = [path, ...["-wal", "-shm", ".head"].map((ending) => path + ending)];
  const beside = findStoreFiles(path);
  const keys = beside ? [beside.vaultKey, beside.signingKey] : [];
  const isOwn = !isReached(folder, { path: configFolder, ...store });
  return [{ path: folder, ...store, isOwn }, ...[...files, ...keys].map((file) => ({ path: file, ...store }))];
}

/** The files of Glovebox beside a store; `undefined` for a store in memory. */
export function findStoreFiles(path: string) {
  if (path === SQLITE_MEMORY) return undefined;
  const beside = (name: string): string => join(dirname(path), name);
  const keys = { vaultKey: beside("glovebox.key"), signingKey: beside("ledger.key") };
  return { ...keys, head: `${path}.head`, packages: beside("servers") };
}

/** Compares identities and not names: links, mounts and case can give one folder several names. */
function isReached(path: string, guarded: GuardedPath): boolean {
  const given = identify(path);
  if (!given) return false;
  if (listIdentities(guarded.path).includes(given.identity)) return true;
  const own = guarded.isOwn === true && given.isFolder ? identify(guarded.path)?.identity : undefined;
  return own !== undefined && listIdentities(path).includes(own);
}

/** Of the file or folder and of all folders above it, without links. What does not exist yet has none. */
function listIdentities(path: string): readonly string[] {
  const existing = listSelfAndAbove(path).find((one) => identify(one));
  const all = existing === undefined ? [] : listSelfAndAbove(realpathSync.native(existing));
  return all.flatMap((one) => identify(one)?.identity ?? []);
}

function identify(path: string): { readonly identity: string; readonly isFolder: boolean } | undefined {
  try {
    const status = statSync(path, { bigint: true });
    return { identity: `${status.dev}:${status.ino}`, isFolder: status.isDirectory() };
  } catch {
    return undefined; // the server cannot use it either
  }
}

/** Names the key and not the path, because a model may see the message. */
function refuseStart(id: ConnectorId, key: string, { what, remedy = "" }: GuardedPath): GloveboxError {
  const hint = `An operator must change mcpServers.${id}.${key} to a folder out of reach of them, such as a subfolder with only the files that the server needs${remedy}`;
  return new GloveboxError("CONFIG_INVALID", `${id}: it was not started, because its ${key} reaches ${what}`, { hint });
}

/** The parts of the package that can be in an error. */
const INSTALLED = ["bin", "dist", "node_modules", "src"];

/** Knows the state folder, the store and the installation of this gateway, and the home folder of its user. */
export function createOwnMask(
  { store }: Pick<Settings, "store">,
  codeFolder: string,
  home: string,
): ReturnType<typeof createPathMask> {
  const installed = INSTALLED.map((name) => join(dirname(codeFolder), name));
  const state = store.stateFolder === undefined ? [] : [store.stateFolder];
  const file = store.path === SQLITE_MEMORY ? [] : [store.path];
  return createPathMask({ paths: [...installed, ...state, ...file], home });
}
