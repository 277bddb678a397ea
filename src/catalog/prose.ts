/** Prepares text of servers for models: cleaned, shortened, and on one line where needed. */

import { capText } from "../text/index.ts";

/** Removes escape sequences, control characters and invisible characters. */
export type CleanText = (text: string) => string;

/** In UTF-8. */
const MAX_DESCRIPTION_BYTES = 2048;
/** In UTF-16 code units. */
const MAX_SUMMARY_LENGTH = 120;

const CUT = "…";
const CUT_BYTES = 3;

/** Cleaning may shorten text, so more is cleaned than is kept; the bound keeps the cost of huge text low. */
const CLEANED_LENGTH = 4 * MAX_DESCRIPTION_BYTES;

/** Returns "" for anything but a string. */
export function toDescription(raw: unknown, clean: CleanText): string {
  if (typeof raw !== "string") return "";
  const text = showTags(dropComments(clean(raw.slice(0, CLEANED_LENGTH).toWellFormed()))).trim();
  return cutBytes(text, MAX_DESCRIPTION_BYTES);
}

/** Removes HTML comments: a person who reads the rendered text does not see them, so a model must not read them. */
function dropComments(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let start = text.indexOf("<!--"); start >= 0; start = text.indexOf("<!--", from)) {
    const end = text.indexOf("-->", start + 4);
    if (end < 0) break;
    kept.push(text.slice(from, start));
    from = end + 3;
  }
  return kept.join("") + text.slice(from);
}

/** Shows tags as plain text, so that `<important>` has no more authority than any other word. */
function showTags(text: string): string {
  return text.replaceAll(/<([/!?]?[A-Za-z-][^<>]*)>/g, "[$1]");
}

/** Returns the first sentence of the first candidate with text. */
export function toSummary(candidates: readonly unknown[], clean: CleanText): string {
  for (const candidate of candidates) {
    const line = toDescription(candidate, clean)
      .split(/[\n\r\u2028\u2029]/)
      .map((part) => part.replace(/\s+/g, " ").trim())
      .find((part) => part !== "");
    if (line !== undefined) return cutLength(firstSentence(line), MAX_SUMMARY_LENGTH);
  }
  return "";
}

/** Not the dot of `e.g.` or of a heading such as `Note.`; and the next word starts a sentence. */
const SENTENCE = /^.{15,}?[\p{L}\p{N})\]`'"]{2}[.!?](?= [\p{Lu}\p{N}`"'([])/u;

/** The whole line if it says that the tool is deprecated. */
function firstSentence(line: string): string {
  return /\bdeprecated\b/i.test(line) ? line : (SENTENCE.exec(line)?.[0] ?? line);
}

function cutLength(text: string, max: number): string {
  if (text.length <= max) return text;
  // Drops the first half of a surrogate pair at the end.
  return text.slice(0, max - CUT.length).replace(/[\ud800-\udbff]$/, "") + CUT;
}

function cutBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  return capText(text, max - CUT_BYTES) + CUT;
}
