/** Reads a configuration file. A `.ts` file is the operator's own code and runs with the gateway's rights. */

import { readFile, stat } from "node:fs/promises";
import { dirname, extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";

import { GloveboxError } from "../domain/index.ts";
import type { Environment } from "./expand-references.ts";
import { parseJsonc } from "./parse-jsonc.ts";
import { parseSettings } from "./parse-settings.ts";
import { quote } from "./problems.ts";
import type { Settings } from "./settings.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_REASON_CHARACTERS = 500;

/** The settings that the file at this absolute path describes; relative paths in it start from its own folder. */
export async function loadSettings(path: string, environment: Environment): Promise<Settings> {
  if (!isAbsolute(path)) throw new TypeError("The path of a configuration file must be absolute");
  const ending = extname(path);
  if (ending !== ".json" && ending !== ".jsonc" && ending !== ".ts") {
    throw fail(path, `ends in ${quote(ending)}`, "Use a file that ends in .json, .jsonc or .ts");
  }
  await checkFile(path);
  const folder = dirname(path);
  if (ending === ".ts") return parseSettings((await importConfig(path)).default, { folder, path }, environment);
  const text = await readText(path);
  return parseSettings(parseJsonc(text, path), { folder, path, text }, environment);
}

/** Looked at before it is opened: opening a pipe would wait for whoever writes into it. */
async function checkFile(path: string): Promise<void> {
  const status = await stat(path).catch((cause: unknown) => {
    throw fail(path, `cannot be read (${toReason(cause)})`, "Check the path and the permissions", cause);
  });
  if (status.isDirectory()) throw fail(path, "is a folder", "Name the file in it");
  if (!status.isFile()) throw fail(path, "is not a regular file", "Name a regular file");
  checkSize(path, status.size);
}

function checkSize(path: string, bytes: number): void {
  if (bytes <= MAX_FILE_BYTES) return;
  const message = `has ${bytes} bytes, more than the ${MAX_FILE_BYTES} that a configuration may have`;
  throw fail(path, message, "Check that this is the right file");
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw fail(path, `cannot be read (${toReason(cause)})`, "Check the permissions of the file", cause);
  });
  checkSize(path, bytes.length);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fail(path, "is not UTF-8 text", "Save the file as UTF-8", cause);
  }
}

/** The whole module, since returning a default export that is a promise would wait for it. */
async function importConfig(path: string): Promise<{ readonly default: unknown }> {
  const module: object = await import(pathToFileURL(path).href).catch((cause: unknown) => {
    throw fail(path, `could not be run: ${toReason(cause)}`, "Correct the file; it must run in Node as it is", cause);
  });
  // Node takes a file without any export for CommonJS and makes up an empty default export for it.
  if (!("default" in module) || "module.exports" in module) {
    throw fail(path, "has no default export", "Write `export default defineConfig({ … })` or export a plain object");
  }
  return module;
}

function toReason(cause: unknown): string {
  if (!(cause instanceof Error)) return "it threw something that is no Error";
  if ("syscall" in cause && "code" in cause && typeof cause.code === "string") return cause.code;
  return `${cause.name}: ${cause.message}`.slice(0, MAX_REASON_CHARACTERS);
}

function fail(path: string, message: string, hint: string, cause?: unknown): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${path}: ${message}`, { hint, ...(cause !== undefined && { cause }) });
}
