/** Notices that the file under an open database was deleted, moved or replaced. */

import { statSync } from "node:fs";

import { GloveboxError } from "../../domain/index.ts";

/** A write for which nobody waits until it is on disk goes by a look that is not older. */
const RECENT_MS = 5;

/**
 * A check to make before each write, told whether that is to be durable. SQLite keeps writing into a deleted file
 * without an error, and every record of it would be lost: better to refuse.
 */
export function createFileCheck(path: string): (isDurable: boolean) => void {
  if (path === ":memory:") return () => undefined;
  const files = [path, `${path}-wal`].map((name) => ({ name, identity: identify(name) }));
  let lookedAt = -Infinity;
  return (isDurable) => {
    const now = performance.now();
    if (!isDurable && now - lookedAt < RECENT_MS) return;
    lookedAt = now;
    const lost = files.find(({ name, identity }) => identify(name) !== identity);
    if (!lost) return;
    lookedAt = -Infinity;
    throw new GloveboxError("STORE_UNAVAILABLE", `The store was deleted or replaced while open: ${lost.name}`, {
      hint: "Put the file back, or start Glovebox again",
    });
  };
}

function identify(name: string): string | undefined {
  const found = statSync(name, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}
