/** Reads keys of one entry of a client, remembers which, and translates their references. */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import { toText, translateReferences } from "./translate-references.ts";
import type { ReferenceOptions } from "./translate-references.ts";

export type EntryReader = ReturnType<typeof createEntryReader>;

export function createEntryReader(raw: JsonObject, options: ReferenceOptions) {
  const read = new Set<string>();
  const inputs = new Set<string>();
  const notes = new Set<string>();
  /** The first of these keys that has a value; all count as read. */
  const find = (...names: readonly string[]): Json | undefined => {
    for (const name of names) read.add(name);
    return names.map((name) => raw[name]).find((value) => value !== undefined && value !== null);
  };
  const translate = (value: Json, isSecretAllowed = false): string => {
    const translated = translateReferences(toText(value), { ...options, isSecretAllowed });
    for (const name of translated.inputs) inputs.add(name);
    for (const note of translated.notes) notes.add(note);
    return translated.text;
  };
  return {
    find,
    translate,
    text: (...names: readonly string[]): string | undefined => {
      const value = find(...names);
      return typeof value === "string" && value !== "" ? translate(value) : undefined;
    },
    /** Only here may our configuration have secrets. */
    pairs: (...names: readonly string[]): JsonObject => {
      const value = find(...names);
      const entries = isJsonObject(value) ? Object.entries(value) : [];
      return Object.fromEntries(entries.map(([key, one]) => [key, translate(one, true)]));
    },
    /** Secrets that a person must set. */
    inputs: (): readonly string[] => [...inputs],
    notes: (): readonly string[] => [...notes],
    unread: (): readonly string[] => Object.keys(raw).filter((key) => !read.has(key)),
  };
}
