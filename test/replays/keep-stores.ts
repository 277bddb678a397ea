/**
 * Loaded before each test file by `npm run replay:scenarios`: moves a temporary folder that a test removes to the kept
 * ones, with its stores and keys. Tests need no change for it, so none can be forgotten.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { makeKeptFolder } from "../fixtures/passing-store.ts";

const { rmSync } = fs;

fs.rmSync = (path, options) => {
  const folder = String(path);
  const isWhole = options?.recursive === true && dirname(folder) === tmpdir() && fs.existsSync(folder);
  const kept = isWhole ? makeKeptFolder() : undefined;
  if (kept === undefined) rmSync(path, options);
  else fs.renameSync(folder, join(kept, basename(folder)));
};
syncBuiltinESMExports();
