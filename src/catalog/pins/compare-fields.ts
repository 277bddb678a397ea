/** Compares two definitions of a tool field by field, with whole texts, for a page that shows text as text. Pure. */

import { defined } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { toFields } from "./describe-difference.ts";
import { markSuspicious } from "./find-suspicious.ts";
import type { SuspiciousMark } from "./find-suspicious.ts";

/** `null` is absent. A text is its value, anything else is JSON. Nothing is cleaned. */
export interface ComparedField {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** In `after`. */
  readonly marks: readonly SuspiciousMark[];
  /** Characters of the longer one that are left out. */
  readonly cut?: number;
}

const MAX_FIELDS = 100;
const MAX_CHARS = 8_000;
const MAX_PATH_CHARS = 300;

/** `before` is `null` for a tool that was never accepted. Suspicious fields come first. */
export function compareFields(
  before: JsonObject | null,
  after: JsonObject,
): { readonly fields: readonly ComparedField[]; readonly moreFields?: number } {
  const [old, fresh] = [toFields(before ?? {}), toFields(after)];
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].filter((path) => old.get(path) !== fresh.get(path));
  const fields = paths.map((path) => compareField(path, old.get(path), fresh.get(path)));
  const sorted = fields.toSorted((a, b) => Number(b.marks.length > 0) - Number(a.marks.length > 0));
  const more = fields.length - MAX_FIELDS;
  return { fields: sorted.slice(0, MAX_FIELDS), ...defined({ moreFields: more > 0 ? more : undefined }) };
}

function compareField(path: string, before: string | undefined, after: string | undefined): ComparedField {
  const [old, fresh] = [toText(before), toText(after)];
  const cut = Math.max(old?.length ?? 0, fresh?.length ?? 0) - MAX_CHARS;
  return {
    path: shorten(path, MAX_PATH_CHARS) ?? "",
    before: shorten(old, MAX_CHARS),
    after: shorten(fresh, MAX_CHARS),
    marks: markSuspicious(shorten(fresh, MAX_CHARS) ?? ""),
    ...defined({ cut: cut > 0 ? cut : undefined }),
  };
}

function toText(json: string | undefined): string | null {
  if (json === undefined) return null;
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}

function shorten(text: string | null, length: number): string | null {
  return text === null || text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
