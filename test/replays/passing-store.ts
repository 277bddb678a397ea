/** Where tests put stores that they do not look into, and what is noted when all stores of tests are kept. */

import { appendFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** Names the folder in which the stores of tests are kept; `npm run replay:scenarios` sets it. */
export const STORES_FOLDER = "GLOVEBOX_TEST_STORES";
/** Variables that gateways were started with, a line of JSON for each start. */
export const STARTS_FILE = "starts.jsonl";

/** In memory; when stores are kept, in a file that stays. */
export function passingStore(): { readonly url: string } {
  const folder = makeKeptFolder();
  return { url: folder === undefined ? "sqlite::memory:" : `sqlite:${join(folder, "glovebox.db")}` };
}

/** A new folder among those that are kept, with the name of this test file in its own. */
export function makeKeptFolder(): string | undefined {
  const folder = process.env[STORES_FOLDER];
  const [, name = "test"] = /([\w-]+)\.test\.ts$/.exec(process.argv[1] ?? "") ?? [];
  return folder === undefined ? undefined : mkdtempSync(join(folder, `${name}-`));
}

/** One start: the folder, from the temporary one on, and the variables beside the usual ones. */
export interface NotedStart {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** When stores are kept: without its variables neither its key nor its configuration can be read again. */
export function noteStart(folder: string, environment: Readonly<Record<string, string>>): void {
  const kept = process.env[STORES_FOLDER];
  if (kept === undefined || Object.keys(environment).length === 0) return;
  const start: NotedStart = { folder: relative(tmpdir(), folder), environment };
  appendFileSync(join(kept, STARTS_FILE), `${JSON.stringify(start)}\n`);
}
