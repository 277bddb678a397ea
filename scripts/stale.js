/**
 * Returns whether a clone's build is older than its sources. It is JavaScript, so that a start from a clone compiles
 * nothing.
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ["src", "web", "guest", "native", "tsconfig.json", "tsconfig.build.json", "package.json"];

/** Written last: a build without it is not complete. */
export const STAMP = join(ROOT, "dist", ".built");

/** True if the build is missing, or if a source other than a test is newer than the build. */
export function isStale() {
  if (!existsSync(STAMP)) return true;
  const builtAt = statSync(STAMP).mtimeMs;
  return SOURCES.some((source) => newestIn(join(ROOT, source)) > builtAt);
}

function newestIn(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return 0;
  if (!status.isDirectory()) return status.mtimeMs;
  const entries = readdirSync(path, { recursive: true, encoding: "utf8" }).filter(
    (entry) => !entry.endsWith(".test.ts"),
  );
  return entries.reduce((newest, entry) => Math.max(newest, statSync(join(path, entry)).mtimeMs), 0);
}
