/** Splits text into words for the index and for queries, in the same way for names of every style. */

import { stem } from "./stem.ts";

/** `listPull_requests-v2` → `list`, `pull`, `requests`, `v2`; `PRs` → `pr`. Works for letters of every script. */
export function splitWords(text: string): readonly string[] {
  // Nearly all text is ASCII, for which the simpler patterns are several times faster.
  return isAscii(text) ? splitAscii(text) : splitUnicode(text);
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}

function splitAscii(text: string): readonly string[] {
  const parted = text
    .replace(/'(?=[A-Za-z])/g, "")
    .replace(/([A-Z]{2})s(?![a-z])/g, "$1 ")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return parted.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

function splitUnicode(text: string): readonly string[] {
  const parted = text
    .normalize("NFKC")
    .replace(/['\u2019](?=\p{L})/gu, "")
    .replace(/(\p{Lu}{2})s(?!\p{Ll})/gu, "$1 ")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return parted.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

export function splitTerms(text: string): readonly string[] {
  return splitWords(text).map(stem);
}
