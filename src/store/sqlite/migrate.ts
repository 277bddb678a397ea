/** Recognizes our files, refuses what is not ours or newer than we are, and brings older ones up to date. */

import type { DatabaseSync } from "node:sqlite";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";

import { APPLICATION_ID, MIGRATIONS } from "./migrations.ts";
import { integerOf, textOf } from "./row.ts";
import { damaged } from "./to-store-error.ts";

const LATEST = MIGRATIONS.length;

/** The version of a file that is ours, 0 for an empty one. Reads only, so a refused file stays as it is. */
export function readVersion(database: DatabaseSync, path: string): number {
  const version = readPragma(database, "user_version");
  const application = readPragma(database, "application_id");
  if (application !== APPLICATION_ID && !isEmpty(database, application, version)) {
    throw new GloveboxError("STORE_UNAVAILABLE", `This is not a Glovebox store: ${path} belongs to another program`, {
      hint: "Nothing was changed. Name another file in `store.url`",
    });
  }
  if (version <= LATEST) return version;
  throw new GloveboxError(
    "STORE_UNAVAILABLE",
    `The store ${path} has version ${version}, and this Glovebox knows versions up to ${LATEST}`,
    { hint: "Nothing was changed. Upgrade Glovebox, or name another file in `store.url`" },
  );
}

/** True when a file can be read as it is; otherwise it needs a migration. Its pages are looked at too. */
export function isLatest(database: DatabaseSync, path: string): boolean {
  const isCurrent = readVersion(database, path) === LATEST;
  checkPages(database, path);
  return isCurrent;
}

/** Looks at every page once. Cheaper than the full check, which compares the indexes too. */
export function checkPages(database: DatabaseSync, path: string): void {
  const [finding] = database.prepare("PRAGMA quick_check(1)").all();
  if (!finding || textOf(finding, "quick_check") !== "ok") throw damaged(path);
}

/**
 * One step towards the latest version, inside the caller's write transaction.
 * The version is read again there, because another process may have taken the same step meanwhile.
 */
export function migrateOnce(database: DatabaseSync, path: string, now: () => Instant): "migrated" | "current" {
  const version = readVersion(database, path);
  const script = MIGRATIONS[version];
  if (script === undefined) return "current";
  database.exec(script);
  database.prepare("INSERT INTO schema_history VALUES (?, ?)").run(version + 1, now());
  database.exec(`PRAGMA user_version = ${version + 1}`);
  return "migrated";
}

/** A process that was killed between making the file and its first table leaves exactly this behind. */
function isEmpty(database: DatabaseSync, application: number, version: number): boolean {
  if (application !== 0 || version !== 0) return false;
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function readPragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return integerOf(database.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}
