/** Runs test files one after the other in this process, each as a suite with its path as the name. */

import { after, describe } from "node:test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** A file is loaded when the one before has ended, and its hooks apply to its own tests only. */
export async function runBatch(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    describe(file, async () => {
      try {
        await import(pathToFileURL(resolve(file)).href);
      } finally {
        after(() => end());
      }
    });
    await ended;
  }
}
