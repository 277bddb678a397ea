/** Small mechanics of text: cleaning, shortening, comparing, digests. A function enters with its third user. */

export { capText, cleanText } from "./clean-text.ts";
export { compareLines } from "./compare-lines.ts";
export { countEdits } from "./count-edits.ts";
export { digestLarge, digestOf } from "./digest-of.ts";
export { toPlainJson, toVisible } from "./escape-hidden.ts";
export { FORMATS } from "./formats.ts";
export { findExcess, isLarge, mapLargeTexts, writeJson } from "./large-json.ts";
export { readJson } from "./read-json.ts";
export { matchWildcard } from "./match-wildcard.ts";
export { createPathMask } from "./redact-paths.ts";
export { redactApproval, redactEvent, redactResult } from "./redact-secrets.ts";
export { translatePattern } from "./translate-pattern.ts";
