/** Changes the servers in the file of a client, and checks that nothing else changed. */

import { isDeepStrictEqual } from "node:util";

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import type { FileFormat } from "./clients.ts";
import { jsonEditor } from "./files/edit-json.ts";
import { tomlEditor } from "./files/edit-toml.ts";
import { yamlEditor } from "./files/edit-yaml.ts";
import type { FileEditor, Slot } from "./files/file-editor.ts";

const EDITORS: Readonly<Record<FileFormat, FileEditor>> = { json: jsonEditor, toml: tomlEditor, yaml: yamlEditor };

/** A file of a client, and where its servers are. */
export interface ServerFile extends Slot {
  readonly path: string;
  readonly format: FileFormat;
}

export interface ServerChange {
  /** Entries to add or replace. */
  readonly set: Readonly<Record<string, Json>>;
  readonly remove: readonly string[];
}

/** The servers in this text, as the client wrote them. Throws CONFIG_INVALID if the file cannot be parsed. */
export function readServers(text: string, file: ServerFile): JsonObject {
  return toServers(parseFile(text, file), file);
}

/** Throws CONFIG_INVALID, and changes nothing, if the file is written in a way that cannot be edited as text. */
export function editServers(text: string, file: ServerFile, change: ServerChange): string {
  const editor = EDITORS[file.format];
  let edited = text;
  for (const name of change.remove) edited = editor.remove(edited, file, name);
  for (const [name, entry] of Object.entries(change.set)) edited = editor.set(edited, file, name, entry);
  const before = parseFile(text, file);
  let cause: unknown;
  try {
    if (isExactly(parseFile(edited, file), before, file, change)) return edited;
  } catch (thrown) {
    cause = thrown;
  }
  throw new GloveboxError("CONFIG_INVALID", `${file.path} cannot be edited without changing other parts of it`, {
    cause,
    hint: `Write ${file.keys.join(".")} with one entry below the other, or edit the file by hand; it was not changed`,
  });
}

function isExactly(after: JsonObject, before: JsonObject, file: ServerFile, { set, remove }: ServerChange): boolean {
  const wanted = { ...toServers(before, file) };
  for (const name of remove) delete wanted[name];
  Object.assign(wanted, set);
  const others = withoutServers(before, file.keys);
  return (
    isDeepStrictEqual(toServers(after, file), wanted) && isDeepStrictEqual(withoutServers(after, file.keys), others)
  );
}

function parseFile(text: string, { format, path }: ServerFile): JsonObject {
  const value = EDITORS[format].parse(text, path);
  // A copy in JSON: dates of TOML and YAML become strings, on both sides of every comparison.
  const copy: unknown = JSON.parse(
    JSON.stringify(value ?? {}, (_, one: unknown) => (typeof one === "bigint" ? String(one) : one)),
  );
  if (isJsonObject(copy)) return copy;
  throw new GloveboxError("CONFIG_INVALID", `${path} is not an object`, {
    hint: "Correct the file, or choose other clients with --client; it was not changed",
  });
}

function toServers(root: JsonObject, { keys, isList }: Slot): JsonObject {
  let value: Json | undefined = root;
  for (const key of keys) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  if (isJsonObject(value)) return value;
  if (!isList || !Array.isArray(value)) return {};
  return Object.fromEntries(
    value.flatMap((item: Json) => {
      const name = isJsonObject(item) ? item["name"] : undefined;
      return typeof name === "string" ? [[name, item] as const] : [];
    }),
  );
}

/** Empty objects on the way to the servers do not count: an edit may add them. */
function withoutServers(root: JsonObject, [key, ...rest]: readonly string[]): JsonObject {
  if (key === undefined) return {};
  const { [key]: child, ...others } = root;
  const inner = isJsonObject(child) && rest.length > 0 ? withoutServers(child, rest) : {};
  return Object.keys(inner).length === 0 ? others : { ...others, [key]: inner };
}
