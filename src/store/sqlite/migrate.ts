/** Recognizes Glovebox stores, refuses other files and newer versions, and migrates older ones. */

import type { DatabaseSync } from "node:sqlite";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { damaged, integer, readColumn, text } from "../row.ts";

import { APPLICATION_ID, MIGRATIONS } from "./migrations.ts";

const LATEST = MIGRATIONS.length;

/** Returns the version of a store, 0 for an empty file. Read-only, so a refused file is unchanged. */
function readVersion(database: DatabaseSync, path: string): number {
  const version = readPragma(database, "user_version");
  const application = readPragma(database, "application_id");
  if (application !== APPLICATION_ID && !isEmpty(database, application, version)) {
    throw new GloveboxError("STORE_UNAVAILABLE", `This is not a Glovebox store: ${path} belongs to another program`, {
      hint: "Nothing was changed. Set another file in `store.url`",
    });
  }
  if (version <= LATEST) return version;
  throw new GloveboxError(
    "STORE_UNAVAILABLE",
    `The store ${path} has version ${version}, but this Glovebox supports versions up to ${LATEST}`,
    { hint: "Nothing was changed. Upgrade Glovebox, or set another file in `store.url`" },
  );
}

/** Returns false if the file needs a migration. Also checks its pages. */
export function isLatest(database: DatabaseSync, path: string): boolean {
  const isCurrent = readVersion(database, path) === LATEST;
  checkPages(database, path);
  return isCurrent;
}

/** Checks every page. Cheaper than the full check, which also compares indexes. */
function checkPages(database: DatabaseSync, path: string): void {
  const [finding] = database.prepare("PRAGMA quick_check(1)").all();
  if (!finding || readColumn(finding, "quick_check", text) !== "ok") throw damaged(path);
}

/**
 * Runs one migration inside the caller's write transaction.
 * Reads the version again, because another process may have run the same migration.
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

/** A process that was killed between creating the file and its first table leaves an empty one. */
function isEmpty(database: DatabaseSync, application: number, version: number): boolean {
  if (application !== 0 || version !== 0) return false;
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function readPragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return readColumn(database.prepare(`PRAGMA ${name}`).get(), name, integer);
}
