/**
 * The folders of installed packages. A folder is used only while it is as it was when it was completed: a file that was
 * changed, added or removed since then is noticed before the next start.
 */

import { existsSync, lstatSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";

import type { ConnectorId, Instant } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import { HOUR_MS } from "../../timing/index.ts";

import { nameServer } from "./lock.ts";
import type { PackagePowers } from "./open-packages.ts";

export const STAGING = ".staging-";
const MS_PER_SECOND = 1000;

type Powers = Pick<PackagePowers, "values" | "holdLease">;

const toKey = (folder: string): string => `package-files:${basename(folder)}`;

/** False if it is not there, is not complete, or has changed. */
export function isIntact({ values, holdLease }: Powers, folder: string): Promise<boolean> {
  return holdLease(toKey(folder), () => matches(values, folder));
}

async function matches(values: Powers["values"], folder: string): Promise<boolean> {
  return existsSync(folder) && (await values.get(toKey(folder))) === describeFiles(folder);
}

/** Gives a complete installation its name, unless another process was first. */
export function publish({ values, holdLease }: Powers, staging: string, folder: string): Promise<void> {
  return holdLease(toKey(folder), async () => {
    if (await matches(values, folder)) return;
    if (existsSync(folder)) renameSync(folder, `${staging}-replaced`);
    renameSync(staging, folder);
    // A process that ends before this line leaves a folder that is not used.
    await values.set(toKey(folder), describeFiles(folder));
  });
}

/**
 * Reads no file: only root can set the time of the last change (`ctime`) of a file, so content that was written later
 * shows.
 */
function describeFiles(folder: string): string {
  const lines = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const { mode, size, ino, ctimeNs } = lstatSync(join(folder, name), { bigint: true });
      return [name, mode, size, ino, ctimeNs].join("\0");
    });
  return digestOf(lines.join("\n"));
}

/** Starts the hour after which an old version is removed. */
export function retire(folder: string, now: Instant): void {
  if (existsSync(folder)) utimesSync(folder, now / MS_PER_SECOND, now / MS_PER_SECOND);
}

/**
 * Removes what nothing uses: other versions of a server, and what processes left that were ended while they installed.
 * Gateways that run an old version restart it within seconds, so after an hour it has no user.
 */
export function removeOld(parent: string, id: ConnectorId, { keep, now }: { keep?: string; now: Instant }): void {
  const isOld = (name: string): boolean => {
    const status = statSync(join(parent, name), { throwIfNoEntry: false });
    return status !== undefined && now - status.mtimeMs > HOUR_MS;
  };
  const names = readdirSync(parent).filter(
    (name) =>
      name.startsWith(STAGING) || (keep !== undefined && name.startsWith(nameServer(id)) && name !== basename(keep)),
  );
  for (const name of names.filter(isOld)) rmSync(join(parent, name), { recursive: true, force: true });
}
