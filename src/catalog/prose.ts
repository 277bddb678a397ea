/** Text that a server wrote and a model will read: cleaned, one line where a line is promised, and capped. */

/** Removes escapes, control and invisible characters; another room knows which. */
export type Clean = (text: string) => string;

/** Of a description, in UTF-8. */
const MAX_DESCRIPTION_BYTES = 2048;
/** Of a summary, in UTF-16 code units. */
const MAX_SUMMARY_LENGTH = 120;

const CUT = "…";
const CUT_BYTES = 3;

/** Cleaning may shorten text, so more is cleaned than is kept; but a megabyte of prose must not cost a megabyte. */
const CLEANED_LENGTH = 4 * MAX_DESCRIPTION_BYTES;

/** Anything but a string is no description at all. */
export function toDescription(raw: unknown, clean: Clean): string {
  if (typeof raw !== "string") return "";
  const text = showTags(dropComments(clean(raw.slice(0, CLEANED_LENGTH).toWellFormed()))).trim();
  return cutBytes(text, MAX_DESCRIPTION_BYTES);
}

/** What a page would not show, a person who reads the page never saw; a model must not read it either. */
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

/** `<important>` has no more authority than any other word: tags, hidden ones too, are shown as plain text. */
function showTags(text: string): string {
  return text.replaceAll(/<([/!?]?[A-Za-z-][^<>]*)>/g, "[$1]");
}

/** The first line that says something; the title or the name stands in for a missing description. */
export function toSummary(candidates: readonly unknown[], clean: Clean): string {
  for (const candidate of candidates) {
    const line = toDescription(candidate, clean)
      .split(/[\n\r\u2028\u2029]/)
      .map((part) => part.replace(/\s+/g, " ").trim())
      .find((part) => part !== "");
    if (line !== undefined) return cutLength(line, MAX_SUMMARY_LENGTH);
  }
  return "";
}

function cutLength(text: string, max: number): string {
  if (text.length <= max) return text;
  // A surrogate pair that the cut went through leaves its first half behind.
  return text.slice(0, max - CUT.length).replace(/[\ud800-\udbff]$/, "") + CUT;
}

function cutBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(max - CUT_BYTES));
  return text.slice(0, read) + CUT;
}
