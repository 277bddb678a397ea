/** Finds text in a tool definition that speaks to the model instead of describing a tool. A mark for people, not a wall. */

import type { Json } from "../../domain/index.ts";
import type { CleanText } from "../prose.ts";

const SIGNS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [
    /<\/?\s*(?:important|system|instructions?|secret|hidden|assistant)\b|\[\/?INST\]/i,
    "has a tag that addresses a model",
  ],
  [
    /\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier|all|other)\b.{0,40}\b(?:instructions?|rules?|prompts?|orders?)\b/i,
    "asks to ignore instructions",
  ],
  [
    /\b(?:do not|don't|never|without)\b.{0,40}\b(?:tell|telling|mention|mentioning|inform|informing|show|showing|reveal|notify|notifying)\b.{0,30}\b(?:user|person|human|anyone)\b/i,
    "asks to hide something from the person",
  ],
  [
    /~\/\.|\bid_(?:rsa|ed25519|ecdsa)\b|\.ssh\b|\.aws\b|\/etc\/(?:passwd|shadow)\b|\bmcp\.json\b|(?<!\w)\.env\b|\.npmrc\b/i,
    "names files that hold keys",
  ],
  [/\bbefore (?:using|calling|you (?:use|call)) (?:this|any|other|the)\b/i, "orders other steps before the call"],
  [/[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u{e0000}-\u{e007f}\u001b]/u, "has hidden characters"],
  [/[A-Za-z0-9+/_-]{200}/, "has a long encoded text"],
];

const MAX_SHOWN = 80;
const AROUND = 20;
const MAX_MARKS = 10;
const MAX_MARKS_OF_TEXT = 100;
const MAX_TEXTS = 5_000;

/** A suspicious part of a text. */
export interface SuspiciousMark {
  readonly start: number;
  readonly end: number;
  readonly why: string;
}

/** Every suspicious part of one text, in order; each sign counts once at a place. */
export function markSuspicious(text: string): readonly SuspiciousMark[] {
  const marks = SIGNS.flatMap(([pattern, why]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map(({ 0: found, index }) => ({
      start: index,
      end: index + found.length,
      why,
    })),
  );
  return marks.toSorted((a, b) => a.start - b.start).slice(0, MAX_MARKS_OF_TEXT);
}

/** Returns lines such as `description has a tag that addresses a model: "<IMPORTANT>…"`. The text is cleaned here. */
export function findSuspicious(definition: Json, clean: CleanText): readonly string[] {
  const marks = listTexts(definition).flatMap(([path, text]) =>
    SIGNS.flatMap(([pattern, why]) => {
      const at = text.search(pattern);
      if (at < 0) return [];
      const quoted = clean(text.slice(Math.max(0, at - AROUND), at + MAX_SHOWN)).replaceAll(/\s+/g, " ");
      return [`${clean(path).slice(0, MAX_SHOWN)} ${why}: ${JSON.stringify(quoted)}`];
    }),
  );
  return marks.length > MAX_MARKS ? [...marks.slice(0, MAX_MARKS), `(${marks.length - MAX_MARKS} more)`] : marks;
}

/** Every string and key by its path. Not recursive, because schemas can nest deeply. */
function listTexts(definition: Json): readonly (readonly [path: string, text: string])[] {
  const texts: (readonly [string, string])[] = [];
  const open: (readonly [string, Json])[] = [["", definition]];
  for (let next = open.pop(); next && texts.length < MAX_TEXTS; next = open.pop()) {
    const [path, value] = next;
    if (typeof value === "string") texts.push([path, value]);
    if (typeof value !== "object" || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      const inner = path === "" ? key : `${path}.${key}`;
      if (!Array.isArray(value)) texts.push([`${path === "" ? "" : `${path}: `}a name`, key]);
      open.push([inner, child]);
    }
  }
  return texts;
}
