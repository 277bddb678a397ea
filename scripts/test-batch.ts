/** Runs test files one after the other in this process, each as a suite with its path as the name. */

import { after, describe } from "node:test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** No file takes a quarter of this on a slow machine. */
const FILE_MS = 900_000;
/** Time for what a test has closed to end. */
const CLOSE_MS = 120_000;

/** A file is loaded when the one before has ended, and its hooks apply to its own tests only. */
export async function runBatch(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    // `unref`: the end is never heard after a hook that fails, and then the process must end.
    const limit = setTimeout(() => fail(`${file} did not end within ${FILE_MS / 60_000} minutes`), FILE_MS).unref();
    describe(file, async () => {
      try {
        await import(pathToFileURL(resolve(file)).href);
      } finally {
        after(() => end());
      }
    });
    await ended;
    clearTimeout(limit);
  }
  setTimeout(() => fail(`After ${files.join(", ")} something is still open`), CLOSE_MS).unref();
}

/** Ends this process: the time limit of `run` applies to tests, not to a process that has something open. */
function fail(problem: string): void {
  process.stderr.write(`${problem}: ${process.getActiveResourcesInfo().join(", ")}.\n`);
  process.exit(1);
}
