/** Finds the files of clients on this machine. */

import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { CLIENTS } from "./clients.ts";
import type { Client } from "./clients.ts";

/** Where the files of clients are. With another home folder, the variables of XDG do not count. */
export interface Places {
  readonly home: string;
  /** The folder of the project whose files are read too. */
  readonly project: string;
  readonly platform: NodeJS.Platform;
  readonly xdgConfigHome?: string | undefined;
  readonly appData?: string | undefined;
}

/** One place in a file where a client keeps servers. */
export interface ClientPlace {
  readonly client: Client;
  /** As the client names it; a link is followed when the file is read. */
  readonly path: string;
  readonly keys: readonly string[];
  /** Servers of a project may come from another person. */
  readonly scope: "user" | "project";
}

/** The places of all clients whose files exist, each file once even if a link gives it two names. */
export function findClientPlaces(places: Places): readonly ClientPlace[] {
  const seen = new Set<string>();
  return CLIENTS.flatMap((client) => listClientPlaces(client, places)).filter(({ path, keys }) => {
    if (!existsSync(path)) return false;
    const identity = JSON.stringify([realpathSync(path), keys]);
    return !seen.has(identity) && seen.add(identity) !== undefined;
  });
}

/** All places of one client, whether its files exist or not. */
export function listClientPlaces(client: Client, places: Places): readonly ClientPlace[] {
  const user = client.user.map((path) => ({ client, path: expand(path, places), keys: client.keys }));
  const inUserFile = client.projectKeys?.map((key) => (key === "$project" ? places.project : key));
  return [
    ...user.map((place) => ({ ...place, scope: "user" as const })),
    ...(inUserFile ? user.map((place) => ({ ...place, keys: inUserFile, scope: "user" as const })) : []),
    ...client.project.map((path) => ({
      client,
      path: join(places.project, path),
      keys: client.keys,
      scope: "project" as const,
    })),
  ];
}

function expand(path: string, { home, platform, xdgConfigHome, appData }: Places): string {
  const xdg = xdgConfigHome ?? join(home, ".config");
  const config = {
    darwin: join(home, "Library", "Application Support"),
    win32: appData ?? join(home, "AppData", "Roaming"),
  };
  const settings = platform === "darwin" || platform === "win32" ? config[platform] : xdg;
  const [root = "", ...rest] = path.split("/");
  return join(root === "~" ? home : root === "$xdg" ? xdg : settings, ...rest);
}
