/** Reads a configuration file. A `.ts` file is code of the operator and runs with the gateway's rights. */

import { dirname, extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";

import type { EnvironmentVariables } from "./expand-references.ts";
import { parseJsonc } from "./read/parse-jsonc.ts";
import { parseSettings } from "./parse-settings.ts";
import { quote } from "./problems.ts";
import { checkFile, readTextFile, refuseFile, toReason } from "./read/read-text-file.ts";
import type { Settings } from "./settings.ts";

const FILE = { maxBytes: 1024 * 1024, kind: "a configuration" };

/** Returns the settings of the file at this absolute path; relative paths in it start from its folder. */
export async function loadSettings(path: string, environment: EnvironmentVariables): Promise<Settings> {
  if (!isAbsolute(path)) throw new TypeError("The path of a configuration file must be absolute");
  const ending = extname(path);
  if (ending !== ".json" && ending !== ".jsonc" && ending !== ".ts") {
    const hint = "Use a file that ends in .json, .jsonc or .ts";
    throw refuseFile(path, `has the unsupported extension ${quote(ending)}`, { hint });
  }
  const folder = dirname(path);
  if (ending === ".ts") return parseSettings((await importConfig(path)).default, { folder, path }, environment);
  const text = await readTextFile(path, FILE);
  return parseSettings(parseJsonc(text, path), { folder, path, text }, environment);
}

/** Returns the whole module, because returning a default export that is a promise would await it. */
async function importConfig(path: string): Promise<{ readonly default: unknown }> {
  await checkFile(path, FILE);
  const module: object = await import(pathToFileURL(path).href).catch((cause: unknown) => {
    const hint = "Correct the file; Node must be able to run it";
    throw refuseFile(path, `cannot be run: ${toReason(cause)}`, { hint, cause });
  });
  // Node treats a file without exports as CommonJS and gives it an empty default export.
  if (!("default" in module) || "module.exports" in module) {
    const hint = "Write `export default defineConfig({ … })` or export a plain object";
    throw refuseFile(path, "has no default export", { hint });
  }
  return module;
}
