/** Notices that the file under an open database was deleted, moved or replaced. */

import { statSync } from "node:fs";

import { GloveboxError } from "../../domain/index.ts";

/** An unflushed write reuses a check of this age. */
const RECENT_MS = 5;

/**
 * Returns a check to run before each write. SQLite writes to a deleted file without an error, and all of that would be
 * lost, so the check throws.
 */
export function createFileCheck(path: string): (isDurable: boolean) => void {
  if (path === ":memory:") return () => undefined;
  const files = [path, `${path}-wal`].map((name) => ({ name, identity: identify(name) }));
  let checkedAt = -Infinity;
  return (isDurable) => {
    const now = performance.now();
    if (!isDurable && now - checkedAt < RECENT_MS) return;
    checkedAt = now;
    const lost = files.find(({ name, identity }) => identify(name) !== identity);
    if (!lost) return;
    checkedAt = -Infinity;
    throw new GloveboxError("STORE_UNAVAILABLE", `The store was deleted or replaced while open: ${lost.name}`, {
      hint: "Restore the file, or restart Glovebox",
    });
  };
}

function identify(name: string): string | undefined {
  const found = statSync(name, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}
