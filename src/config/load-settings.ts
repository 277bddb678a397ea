/** Reads a configuration file. A `.ts` file is code of the operator and runs with the gateway's rights. */

import { realpath } from "node:fs/promises";
import { dirname, extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";

import { GloveboxError } from "../domain/index.ts";
import type { Digest } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { EnvironmentVariables } from "./expand-references.ts";
import { parseJsonc } from "./read/parse-jsonc.ts";
import { parseSettings } from "./parse-settings.ts";
import { quote } from "./problems.ts";
import { readTextFile, refuseFile, toReason } from "./read/read-text-file.ts";
import type { Settings } from "./settings.ts";

const FILE = { maxBytes: 1024 * 1024, kind: "a configuration" };

/** A configuration before anything in it takes effect. */
export interface ConfigText {
  /** As it was found, and without links. */
  readonly path: string;
  readonly realPath: string;
  readonly text: string;
  readonly digest: Digest;
  /** True for a `.ts` file. */
  readonly isCode: boolean;
}

/** Reads the file at this absolute path, and neither parses nor runs it. */
export async function readConfig(path: string): Promise<ConfigText> {
  if (!isAbsolute(path)) throw new TypeError("The path of a configuration file must be absolute");
  const ending = extname(path);
  if (ending !== ".json" && ending !== ".jsonc" && ending !== ".ts") {
    const hint = "Use a file that ends in .json, .jsonc or .ts";
    throw refuseFile(path, `has the unsupported extension ${quote(ending)}`, { hint });
  }
  const text = await readTextFile(path, FILE);
  return { path, realPath: await realpath(path), text, digest: digestOf(text), isCode: ending === ".ts" };
}

interface SettingsLoadOptions {
  /** Decides whether the file may take effect. */
  readonly admit?: (written: ConfigText) => Promise<boolean>;
  readonly stateFolder?: string;
  /** Called with the error of an invalid `policy` section, which is then left out; without it the error is thrown. */
  readonly onInvalidPolicy?: (error: GloveboxError) => void;
}

/**
 * Returns the settings of the file at this absolute path; relative paths in it start from its folder. If the file is
 * not admitted, the settings are those of an empty configuration.
 */
export async function loadSettings(
  path: string,
  environment: EnvironmentVariables,
  { admit, stateFolder, onInvalidPolicy }: SettingsLoadOptions = {},
): Promise<Settings> {
  const written = await readConfig(path);
  const { text, isCode, realPath } = written;
  const state = stateFolder === undefined ? undefined : { folder: stateFolder, realPath };
  const source = { folder: dirname(path), path, state };
  if (admit && !(await admit(written)))
    return parseSettings({}, { ...source, state: state && { ...state, isWithheld: true } }, environment);
  const raw: unknown = isCode ? (await importConfig(path)).default : parseJsonc(text, path);
  const whole = isCode ? source : { ...source, text };
  if (!onInvalidPolicy) return parseSettings(raw, whole, environment);
  return parseWithoutInvalidPolicy(raw, (one) => parseSettings(one, whole, environment), onInvalidPolicy);
}

/** Throws the first error if the rest of the configuration is invalid too. */
function parseWithoutInvalidPolicy(
  raw: unknown,
  parse: (raw: unknown) => Settings,
  onInvalid: (error: GloveboxError) => void,
): Settings {
  try {
    return parse(raw);
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || typeof raw !== "object" || raw === null || !("policy" in raw))
      throw thrown;
    const { policy: _, ...rest } = raw;
    const settings = parseOr(() => parse(rest), thrown);
    onInvalid(thrown);
    return settings;
  }
}

function parseOr(parse: () => Settings, first: GloveboxError): Settings {
  try {
    return parse();
  } catch {
    throw first;
  }
}

/** Returns the whole module, because returning a default export that is a promise would await it. */
async function importConfig(path: string): Promise<{ readonly default: unknown }> {
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
