/** Notices that the file under an open database was deleted, moved or replaced. */

import { statSync } from "node:fs";

import { GloveboxError } from "../../domain/index.ts";

/**
 * A check to make before each write. SQLite keeps writing into a deleted file without an error,
 * and every record of it would be lost: better to refuse.
 */
export function rememberFile(path: string): () => void {
  if (path === ":memory:") return () => undefined;
  const files = [path, `${path}-wal`].map((name) => ({ name, identity: identify(name) }));
  return () => {
    const lost = files.find(({ name, identity }) => identify(name) !== identity);
    if (!lost) return;
    throw new GloveboxError("STORE_UNAVAILABLE", `The store was deleted or replaced while open: ${lost.name}`, {
      hint: "Put the file back, or start Glovebox again",
    });
  };
}

function identify(name: string): string | undefined {
  const found = statSync(name, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}
