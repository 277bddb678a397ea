/** Finds secrets in bytes in many encodings, and returns where they are in the original. */

import { toBase64Cores, withLines } from "../secret-forms.ts";
import { createNeedleIndex } from "./needle-index.ts";
import type { NeedleIndex, NeedleMatch } from "./needle-index.ts";
import { fold, toBase64Text, toHexText, toListedBytes, toUnescaped, toVisible, viewOf } from "./views.ts";
import type { View } from "./views.ts";

/** A range of the original, and how the secret is written there. */
export interface Run extends NeedleMatch {
  readonly kind: "text" | "list";
}

/** What to search for, by encoding. */
export interface Needles {
  /** Folded: as they are, and without their own escapes. */
  readonly plain: NeedleIndex;
  /** The same without invisible characters. */
  readonly visible: NeedleIndex;
  readonly base64: NeedleIndex;
  readonly hex: NeedleIndex;
}

/** Shorter needles occur in unrelated data. */
const SHORTEST = 8;

/** Includes each secret and its long lines: as they are, reversed, and in one letter case. */
export function toNeedles(secrets: Iterable<string>): Needles {
  const texts = [...secrets].flatMap(toDisguises);
  const raw = distinct(texts.flatMap((text) => [Buffer.from(text), ...toLatin1(text)]));
  const unescaped = raw.flatMap((bytes) => toUnescaped(viewOf(bytes)).map((view) => view.bytes));
  const visible = unescaped.map((bytes) => toVisible(viewOf(bytes)).bytes);
  const base64 = raw.flatMap((bytes) => [bytes.toString("base64"), ...toBase64Cores(bytes)]);
  return {
    plain: toIndex(unescaped.map(fold)),
    visible: toIndex(visible.map(fold)),
    base64: toIndex(base64.filter((text) => !/[-_]/.test(text)).map((text) => Buffer.from(text))),
    hex: toIndex(raw.map((bytes) => Buffer.from(bytes.toString("hex")))),
  };
}

function toDisguises(secret: string): readonly string[] {
  return withLines(secret).flatMap((text) => {
    const reversed = Array.from(text).toReversed().join("");
    return [text, reversed, text.toUpperCase(), text.toLowerCase()];
  });
}

/** A non-ASCII string that fits into Latin-1 has other bytes there. */
function toLatin1(text: string): readonly Buffer[] {
  const bytes = Buffer.from(text, "latin1");
  return bytes.toString("latin1") === text ? [bytes] : [];
}

function toIndex(needles: readonly Buffer[]): NeedleIndex {
  return createNeedleIndex(distinct(needles));
}

function distinct(needles: readonly Buffer[]): readonly Buffer[] {
  const kept = needles.filter(({ length }) => length >= SHORTEST);
  return [...new Map(kept.map((needle) => [needle.toString("latin1"), needle])).values()];
}

/** Returns every range that holds a secret, in no particular order; some may overlap. */
export function findDisguised(bytes: Buffer, needles: Needles): readonly Run[] {
  const views = toUnescaped(viewOf(bytes));
  const plain = views.at(-1) ?? views[0];
  const visible = toVisible(plain);
  return [
    ...views.flatMap((view) => findIn(foldView(view), needles.plain)),
    ...findIn(foldView(visible), needles.visible),
    ...findIn(toBase64Text(visible), needles.base64),
    ...findIn(toHexText(visible), needles.hex),
    ...findIn(foldView(toListedBytes(plain)), needles.plain, "list"),
  ];
}

function foldView(view: View): View {
  return { ...view, bytes: fold(view.bytes) };
}

function findIn({ bytes, starts, ends }: View, needles: NeedleIndex, kind: Run["kind"] = "text"): readonly Run[] {
  return needles.find(bytes).map(({ start, end }) => ({ start: starts[start] ?? 0, end: ends[end - 1] ?? 0, kind }));
}
